/** Single parts of the daemon that functions receive: each names those that it needs, and nothing else. */
import type { Api } from '../../api/client.ts'
import type { Clock } from '../../base/clock.ts'
import type { Emit } from '../../domain/event.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import type { EvidenceRules } from '../../domain/machine/observation.ts'
import type { Signer } from '../../domain/signer.ts'
import type { Journal } from '../../journal/journal.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { Delegation } from './delegation.ts'
import type { ExecutionSettings } from './executionSettings.ts'
import type { Fees } from './feeEstimates.ts'
import type { SigningPolicy } from './policy.ts'

/** Hosts of the venue. */
export interface HasApi {
  readonly api: Api
}

/** Journal of this process. */
export interface HasJournal {
  readonly journal: Journal
}

/** Signer, and the account that it signs for. */
export interface HasAccount {
  readonly signer: Signer
  /** Whom the signer signs for; absent when it is the account's own key. */
  readonly delegation?: Delegation
}

/** Chain of the account. */
export interface HasChain {
  readonly chain: Chain
}

/** Endpoints of the chain. */
export interface HasChainReader {
  /** Absent in API-only mode. */
  readonly chainReader?: ChainReader
}

/** Clock. */
export interface HasClock {
  readonly clock: Clock
}

/** Receiver of typed events. */
export interface HasEmit {
  readonly emit: Emit
}

/** Clock, receiver of events and journal: nearly everything that acts needs all three. */
export interface HasBasics extends HasClock, HasEmit, HasJournal {}

/** Rules of evidence. */
export interface HasRules {
  readonly rules: EvidenceRules
}

/** Settings of the road. */
export interface HasSettings {
  readonly settings: ExecutionSettings
}

/** Bounds of every signature. */
export interface HasSigningPolicy {
  /** Read when it is needed: the listed markets in it change with the catalogue. */
  readonly signingPolicy: () => SigningPolicy
}

/** Estimates of fees. */
export interface HasFees {
  /** Our own estimates of fees; absent: only the highest fees bound them. */
  readonly fees?: Fees
}
