/** Bugs in the reading of the chain, as patches of the source text: the shell's worlds ask each endpoint over JSON-RPC. */
import type { FirstMutant } from './mutants.ts'
import type { Mode } from './worldTypes.ts'

function one(
  name: string,
  firstSeed: number,
  file: string,
  find: string,
  replace: string,
  mode?: Mode,
): FirstMutant {
  const patches = [{ file: `src/chain/${file}.ts`, find, replace }]
  return { name, tier: 'shell', firstSeed, patches, ...(mode === undefined ? {} : { mode }) }
}

/** All of them. What seeds show too seldom is held by `test/chain/doubt.test.ts`. */
export const rpcMutants: readonly FirstMutant[] = [
  one(
    'any contract may tell of our orders',
    1,
    'logs/orderLogs',
    'sameHex(address, emitter) && kind === EVENT_LOG_2',
    "address !== '0x' && emitter !== '0x' && kind === EVENT_LOG_2",
  ),
  one(
    'another chain is believed',
    6,
    'endpoint',
    'if (found !== BigInt(options.chainId)) {',
    'if (found === 0n) {',
  ),
  one(
    'the safe block is the newest',
    2,
    'node/node',
    "typeof finality === 'string' ? [tagged(finality)]",
    "typeof finality === 'string' ? [tagged('latest')]",
  ),
  one(
    'those that answer are all that count',
    3,
    'endpointsReader',
    'return { configured: states.length, endpoints }',
    'return { configured: endpoints.length, endpoints }',
  ),
  one(
    'what has no event is a stranger’s',
    90,
    'endpoint',
    'countOf(known.consumer, index) < known.events',
    'countOf(known.consumer, index) < 0',
    'chain-1',
  ),
]
