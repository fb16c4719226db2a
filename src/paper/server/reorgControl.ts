/** Reorganisations as an operator asks for them, at the control address or in a scenario. */

import { isObject } from '../../base/isObject.ts'
import { hexKey } from '../../protocol/address.ts'
import type { ChainTransaction } from '../blocks/blockChain.ts'
import { MAX_REORG_BLOCKS, MAX_REORGS, type ReorgReport, reorganise } from '../blocks/reorg.ts'
import type { VenueState } from '../state/venueState.ts'
import { advanceVenue } from '../transactions/advance.ts'

/** Blocks to replace, and the return of their transactions. */
export interface ReorgOrder {
  readonly blocks: number
  /** Blocks after which the transactions return; undefined = they are gone. */
  readonly returnAfterBlocks: number | undefined
}

/** Blocks after which transactions return when the order does not say. */
const RETURN_AFTER_BLOCKS = 1

/**
 * Reads `{"blocks": n}`, and `"transactions": "return" | "drop"` (default return), `"returnAfterBlocks": n` (default 1). A
 * text says what is wrong.
 */
export function readReorg(body: unknown): string | ReorgOrder {
  if (!isObject(body)) return 'the body must be a JSON object'
  const { blocks, transactions = 'return', returnAfterBlocks = RETURN_AFTER_BLOCKS, ...others } = body
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `unknown setting ${unknown}`
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_REORG_BLOCKS
  if (!isCount(blocks)) return `blocks must be an integer from 1 to ${MAX_REORG_BLOCKS}`
  if (!isCount(returnAfterBlocks)) return `returnAfterBlocks must be an integer from 1 to ${MAX_REORG_BLOCKS}`
  if (transactions !== 'return' && transactions !== 'drop') return 'transactions must be return or drop'
  return { blocks, returnAfterBlocks: transactions === 'drop' ? undefined : returnAfterBlocks }
}

/** Reorganises now. A text says why not: the venue has had too many. */
export function reorganiseNow(venueState: VenueState, order: ReorgOrder): string | ReorgReport {
  const { blockChain } = venueState
  if (blockChain.reorgs.length >= MAX_REORGS) return `a world has at most ${MAX_REORGS} reorganisations`
  advanceVenue(venueState)
  const report = reorganise(blockChain, { nowMs: venueState.clock.now(), ...order })
  if (order.returnAfterBlocks === undefined) {
    // A digest whose transaction is gone can be used again.
    for (const { transaction } of blockChain.lost.get(blockChain.reorgs.length) ?? []) {
      if (transaction.digest !== undefined) venueState.usedDigests.delete(hexKey(transaction.digest))
      // And the nonce of one that an account sent is the account's next again, when nothing later of it is left.
      const account = venueState.accounts.get(hexKey(transaction.signed?.from ?? ''))
      if (account !== undefined && !hasLater(venueState, transaction)) {
        account.nonce = Math.min(account.nonce ?? 0, transaction.nonce)
      }
    }
  }
  return report
}

function hasLater(venueState: VenueState, { signed, nonce }: ChainTransaction): boolean {
  return venueState.blockChain.transactions.some(
    (one) => one.signed !== undefined && one.signed.from === signed?.from && one.nonce > nonce,
  )
}

/** Reorganises as a control body says; what is wrong with it, or what happened. */
export function reorganiseByControl(venueState: VenueState, body: unknown): string | ReorgReport {
  const order = readReorg(body)
  return typeof order === 'string' ? order : reorganiseNow(venueState, order)
}
