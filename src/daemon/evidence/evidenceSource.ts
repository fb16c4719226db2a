/** Where this run's evidence comes from: the chain's endpoints, or, without any, the APIs alone. */
import { Secret } from '../../base/secret.ts'
import type { Config } from '../../config/configTypes.ts'
import type { Finality } from '../../protocol/chains/finality.ts'

/** Chosen source of evidence, and its text for the operator. */
export interface EvidenceChoice {
  readonly source: 'chain' | 'api'
  readonly http: readonly Secret[]
  readonly ws: readonly Secret[]
  readonly finality: Finality
  /** Endpoints that must agree; 0 in API-only mode. */
  readonly endpoints: number
  /** One sentence for banner, log and status. */
  readonly text: string
  /** True when an operator should do something about it: real money without a chain's word. */
  readonly isWeak: boolean
}

/** Returns the source of evidence that closes an order by this configuration, for reports on a journal without its daemon. */
export function evidenceSourceOf({ evidence, embedsVenue, rpc }: Config): 'chain' | 'api' {
  const hasEndpoints = embedsVenue || rpc.http.length + rpc.ws.length > 0
  return evidence.source !== 'api' && hasEndpoints ? 'chain' : 'api'
}

/** From which blocks on an order counts as ended. */
function blocksText(finality: Finality): string {
  return typeof finality === 'string' ? `${finality} blocks` : `blocks ${finality.depth} behind the newest`
}

/** Chooses by the configuration; the embedded venue brings endpoints of its own. */
export function chooseEvidence(
  config: Config,
  venue: { readonly rpc: readonly string[]; readonly ws: readonly string[] } | undefined,
): EvidenceChoice {
  const { rpc, evidence, isPaper } = config
  const isGiven = rpc.http.length + rpc.ws.length > 0
  // One node of the embedded venue is enough: it is this process's own.
  const http = isGiven ? rpc.http : (venue?.rpc ?? []).slice(0, 1).map((url) => new Secret(url))
  const ws = isGiven ? rpc.ws : (venue?.ws ?? []).slice(0, 1).map((url) => new Secret(url))
  const finality = rpc.finality ?? config.venue.chain.finality
  const endpoints = http.length > 0 ? http.length : ws.length
  if (evidence.source === 'api' || endpoints === 0) {
    const text = evidence.trustVenue
      ? 'API-only: the paper venue; its statement after the signed deadline closes an order that never landed'
      : 'API-only: data of the APIs closes an order, missing data never does; an order that never landed stays unknown until an operator resolves it'
    return { source: 'api', http: [], ws: [], finality, endpoints: 0, text, isWeak: !isPaper }
  }
  const who =
    endpoints > 1
      ? `${endpoints} RPC endpoints, which must agree`
      : `one RPC endpoint${isGiven ? '; no second one checks it' : ''}`
  const text = `${blocksText(finality)} of the chain, through ${who}`
  return { source: 'chain', http, ws, finality, endpoints, text, isWeak: false }
}
