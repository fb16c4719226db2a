/** Settings of the venue and of the chain that it runs on. */
import { choice, flag, integer, ms, type Section, setting } from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `venue`. */
export const venue = {
  chain: setting(as.chain, 'arbitrum', 'Chain the venue runs on.'),
  apiHosts: setting(
    as.hostUrls,
    [],
    "Base addresses of the application API, peers of equal rank, with the version segment. Empty: the chain's own; in the paper profile the embedded venue.",
  ),
  oracleHosts: setting(
    as.hostUrls,
    [],
    "Base addresses of the oracle price service, primary first. Empty: the chain's own; in the paper profile the embedded venue.",
  ),
} satisfies Section

/** Settings under `rpc`. */
export const rpc = {
  http: setting(
    as.rpcUrls,
    [],
    "The chain's JSON-RPC endpoints, whose data proves how orders end: one or, better, two of different providers. Only scheme and host are ever shown, because keys stand in such addresses. Empty: in the paper profile the embedded venue's own; else API-only mode.",
  ),
  ws: setting(
    as.socketUrls,
    [],
    'The same over WebSocket: endpoints push new blocks, and perpd checks its orders at each. Other reads use it only when rpc.http is empty.',
  ),
  finality: setting(
    as.finality,
    'auto',
    'When a block counts as final. `auto`: safe on Arbitrum, 3 blocks behind latest on Avalanche, finalized on MegaETH.',
  ),
  timeoutMs: setting(ms(100, 120_000), 5_000, 'Longest wait for one response of an endpoint, ms.'),
  maxLogBlocks: setting(
    integer(64, 1_000_000),
    10_000,
    'Most blocks in one request for events; perpd retries with fewer when an endpoint refuses.',
  ),
  routerCodeHash: setting(
    as.hash,
    '',
    'Required hash (keccak256) of the router contract that signatures are for. perpd does not start when an endpoint of rpc.http shows another. Empty: all endpoints must show the same code; the log names its hash.',
  ),
} satisfies Section

/** Settings under `evidence`. */
export const evidence = {
  source: setting(
    choice(['auto', 'chain', 'api']),
    'auto',
    'Evidence that closes orders. `auto`: the chain when there are endpoints, else the APIs alone. `chain`: no start without endpoints. `api`: endpoints are not used.',
  ),
  trustVenue: setting(
    flag,
    false,
    "Accept the venue's own statement that an order is dead in API-only mode. Only the paper profile may.",
  ),
} satisfies Section

/** Settings under `api`. */
export const api = {
  timeoutMs: setting(ms(100, 120_000), 10_000, 'Longest wait for one answer, ms.'),
  attempts: setting(
    integer(1, 20),
    4,
    'Most attempts of one read over all hosts. A submit is sent once, whatever this says.',
  ),
  concurrencyPerHost: setting(integer(1, 256), 8, 'Most requests in flight at one host.'),
  requestsPerSecondPerHost: setting(integer(1, 10_000), 5, 'Most requests a second at one host.'),
  maxPriceAgeMs: setting(
    ms(1_000),
    15_000,
    'Greatest age of the newest price of an oracle host, ms. With older prices its fallbacks are used.',
  ),
} satisfies Section
