/** The context that every step of execution receives. A test builds its own in a few lines. */
import type { Denial, Intent } from '../../domain/order/intent.ts'
import type { WarningPolicy } from '../../domain/order/warning.ts'
import type { Address } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import type {
  HasAccount,
  HasApi,
  HasChain,
  HasChainReader,
  HasClock,
  HasEmit,
  HasFees,
  HasJournal,
  HasRules,
  HasSettings,
  HasSigningPolicy,
} from './executionParts.ts'

/** Questions to admission about an accepted intent before it is signed. Made before execution, and handed to it. */
export interface Admission {
  /** Returns the reason why it may not be signed any more (a halt came since); undefined: it may. */
  veto(intent: Intent): Denial | undefined
  /**
   * The size that an increase may have by all limits on the world as it is read now, at most `atMostUsd` less headroom; or why
   * there is none. Rejects as reading does.
   */
  resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial>
}

/** Dependencies of execution. */
export interface ExecutionContext
  extends HasAccount,
    HasApi,
    HasChain,
    HasChainReader,
    HasClock,
    HasEmit,
    HasFees,
    HasJournal,
    HasRules,
    HasSettings,
    HasSigningPolicy {
  /** Returns the policies for warnings on a strategy's orders: the account's and its own. Absent: the defaults. */
  readonly warningPolicies?: (strategy: string) => readonly WarningPolicy[]
  /** Admission's view of an accepted intent until it is signed; absent: none is held back or made smaller. */
  readonly admission?: Admission
  /** A mistake of ours or a journal that cannot be written: the daemon stops. Never returns to the road. */
  readonly fatal: (error: unknown) => void
}

/** The account that is traded: the owner of a delegated key, else the key's own. */
export function accountOf({ signer, delegation }: HasAccount): Address {
  return delegation?.account ?? signer.address
}
