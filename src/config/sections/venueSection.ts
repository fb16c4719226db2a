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
    'The same over WebSocket: new blocks are pushed, so that orders are looked at as soon as one comes. Read from only when rpc.http is empty.',
  ),
  finality: setting(
    as.finality,
    'auto',
    'When a block counts as final. `auto`: safe on Arbitrum, 3 blocks behind latest on Avalanche, finalized on MegaETH.',
  ),
  timeoutMs: setting(ms(100, 120_000), 5_000, 'Longest wait for one answer of an endpoint, ms.'),
  maxLogBlocks: setting(
    integer(64, 1_000_000),
    10_000,
    'Most blocks that one question for events spans; narrower questions are tried when an endpoint refuses.',
  ),
  routerCodeHash: setting(
    as.hash,
    '',
    'Hash (keccak256) that the code of the contract must have that signatures are for, as the endpoints of rpc.http show it when perpd starts; it does not start on another. Empty: that there is code, the same at all of them; the log names its hash.',
  ),
} satisfies Section

/** Settings under `evidence`. */
export const evidence = {
  source: setting(
    choice(['auto', 'chain', 'api']),
    'auto',
    'What closes orders. `auto`: the chain when there are endpoints, else the APIs alone. `chain`: no start without endpoints. `api`: endpoints are not used.',
  ),
  trustVenue: setting(
    flag,
    false,
    "Let the venue's own statement close an order as dead in API-only mode. Only the paper profile may.",
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
