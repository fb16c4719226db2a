/**
 * Proof of others' changes to a position: a liquidation, a deleveraging, a trade by hand. One host's row is no proof that a position became smaller:
 * it may be invented to hide a position. With endpoints the chain proves it, by the position's own event in a final block of every one. Without
 * endpoints the rows of every configured host prove it.
 */

import type { Api } from '../api/client.ts'
import { BaseError } from '../base/errors.ts'
import type { DiscrepancyState } from '../domain/accountRecords/accountRecord.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import type { PositionChange } from '../domain/machine/chainReader.ts'
import type { HasApi, HasChainReader, HasClock } from '../execution/context/executionParts.ts'
import { waitAtMost } from '../execution/context/waitAtMost.ts'
import { type Address, sameHex } from '../protocol/address.ts'
import type { Trade } from '../protocol/position.ts'
import { minOf, type Usd } from '../protocol/units.ts'

/** Asks for proofs, and remembers them. */
export interface Proofs {
  /**
   * Returns the trades reported by a host that nothing else shows yet, by id, and whether that may still be lag. Never rejects because of network
   * faults.
   */
  unproven(trades: readonly Trade[]): Promise<ReadonlyMap<string, 'waits' | 'late'>>
  /** Returns for each trade that the chain proved, by id, whether the protocol made it to deleverage; none without endpoints. */
  deleveraged(): ReadonlyMap<string, boolean>
  /**
   * Returns the reported discrepancies of trades that are no longer shown, by id. `final`: no endpoint's final blocks hold them. Without endpoints
   * `lists`: no host's rows showed them for longer than lists lag. Never rejects because of network faults.
   */
  withdrawn(discrepancies: readonly DiscrepancyState[]): Promise<ReadonlyMap<string, 'final' | 'lists'>>
  /** Realized results of proven trades, USD, signed: by the chain, else the least that a host reports. */
  readonly results: ReadonlyMap<string, Usd>
  /** Funding received that trades proved by the chain put aside, USD, by id; none without endpoints. */
  received(): ReadonlyMap<string, Usd>
}

/** Most trades that one pass asks about; the others wait for the next. */
const mostAsked = 8
/** Window of trades before and after that are requested: rows of two hosts may differ by it, seconds. */
const aroundSeconds = 120
/** Least lead of final blocks over the missing event, seconds: an endpoint's clock and a host's may differ. */
const laterSeconds = 120
/** Longest wait for answers in one pass, ms. */
const longestWaitMs = 4_000
/** Time that a proof may take before its absence is reported: for hosts' rows, and for final blocks, ms. */
const hostsLagMs = 60_000
const finalityLagMs = 1_800_000
/** Proven trades that are remembered. */
const remembered = 4_096

/** Makes the proofs of an account. */
export function createProofs(context: HasApi & HasChainReader & HasClock, account: Address): Proofs {
  const { clock, chainReader } = context
  const api: Pick<Api, 'getTrades' | 'hosts'> = context.api
  /** Proven trades by id, with the chain's evidence on the trade where it gave any. */
  const proven = new Map<string, PositionChange | undefined>()
  const asking = new Set<string>()
  const results = new Map<string, Usd>()
  /** By side: since when something there waits for its proof, and when it last did, monotonic ms. */
  const waits = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>()
  /** Times from which every host's rows lack a discrepancy's trade, by its id, monotonic ms. */
  let absentSinceMs: ReadonlyMap<string, number> = new Map()
  const graceMs = chainReader?.positionChange === undefined ? hostsLagMs : finalityLagMs

  function noteResult(id: string, pnlUsd: Usd | undefined): void {
    if (pnlUsd !== undefined) results.set(id, minOf(pnlUsd, results.get(id) ?? pnlUsd))
  }

  /** A host's rows of around that time, and whether it gave all of them; undefined when it gives none. */
  async function rowsOf(
    host: string,
    atSeconds: number,
  ): Promise<{ readonly rows: readonly Trade[]; readonly isWhole: boolean } | undefined> {
    try {
      const { value, missing = [] } = await api.getTrades(
        {
          account,
          sinceSeconds: Math.max(0, atSeconds - aroundSeconds),
          untilSeconds: atSeconds + aroundSeconds,
          limit: 500,
        },
        { host, attempts: 1 },
      )
      return { rows: value.trades, isWhole: !value.hasMore && missing.length === 0 }
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      return undefined
    }
  }

  /** Tells whether a host shows the same trade; its result is remembered where it is the worst one so far. */
  async function isShownBy(host: string, trade: Trade): Promise<boolean> {
    const read = await rowsOf(host, trade.timestampSeconds)
    const same = read?.rows.find(
      (row) =>
        row.eventName === trade.eventName &&
        row.orderType === trade.orderType &&
        row.direction === trade.direction &&
        row.sizeDeltaUsd === trade.sizeDeltaUsd &&
        sameHex(row.orderKey, trade.orderKey) &&
        sameHex(row.marketToken ?? '', trade.marketToken ?? '') &&
        sameHex(row.initialCollateralToken, trade.initialCollateralToken),
    )
    noteResult(trade.id, same?.pnlUsd)
    return same !== undefined
  }

  async function isAbsent({ discrepancy, raisedAtMs }: DiscrepancyState): Promise<boolean> {
    const { orderKey, transactionHash, atSeconds } = discrepancy
    if (orderKey === undefined || transactionHash === undefined || atSeconds === undefined) return false
    if (chainReader?.positionChange !== undefined) {
      // A host may state any time; only the time of its report is our own.
      const laterThanSeconds = Math.max(atSeconds, Math.floor(raisedAtMs / 1000)) + laterSeconds
      const change = await chainReader.positionChange({
        account,
        orderKey,
        transactionHash,
        laterThanSeconds,
      })
      return change === 'none'
    }
    const lists = await Promise.all(api.hosts.api.map((host) => rowsOf(host, atSeconds)))
    return lists.every(
      (read) =>
        read?.isWhole === true &&
        read.rows.every(
          (row) => !sameHex(row.transactionHash, transactionHash) || !sameHex(row.orderKey, orderKey),
        ),
    )
  }

  /** Returns the chain's evidence on a trade that it proves, `true` where hosts prove it, or false. */
  async function proofOf(trade: Trade): Promise<PositionChange | boolean> {
    if (chainReader?.positionChange !== undefined) {
      const { orderKey, transactionHash, marketToken = '' } = trade
      const change = await chainReader.positionChange({ account, orderKey, transactionHash })
      if (change === undefined || change === 'none') return false
      // A trade that a host wrongly calls a liquidation would not hold back increases.
      const isSame =
        !change.isIncrease &&
        change.direction === trade.direction &&
        change.sizeDeltaUsd === trade.sizeDeltaUsd &&
        change.orderType === trade.orderType &&
        sameHex(change.marketToken, marketToken)
      if (isSame) results.set(trade.id, change.pnlUsd ?? trade.pnlUsd ?? 0n)
      return isSame ? change : false
    }
    noteResult(trade.id, trade.pnlUsd)
    const { api: hosts } = api.hosts
    // A page may be of any host, so each is queried; with a single host, that one has shown it already.
    const shown = await Promise.all(hosts.length < 2 ? [] : hosts.map((host) => isShownBy(host, trade)))
    return shown.every(Boolean)
  }

  async function ask(trade: Trade): Promise<void> {
    asking.add(trade.id)
    try {
      const proof = await proofOf(trade)
      if (proof !== false) proven.set(trade.id, proof === true ? undefined : proof)
    } finally {
      asking.delete(trade.id)
    }
  }

  return {
    results,
    deleveraged() {
      return new Map(
        [...proven].flatMap(([id, change]) => (change === undefined ? [] : [[id, change.isDeleveraging]])),
      )
    },
    received() {
      return new Map(
        [...proven].flatMap(([id, { fundingReceivedUsd } = {} as Partial<PositionChange>]) =>
          fundingReceivedUsd === undefined ? [] : [[id, fundingReceivedUsd]],
        ),
      )
    },
    async withdrawn(discrepancies) {
      const asked = discrepancies.slice(0, mostAsked)
      const absent = new Set<string>()
      await waitAtMost(
        clock,
        longestWaitMs,
        Promise.all(
          asked.map(async (state) => {
            if (await isAbsent(state)) absent.add(state.discrepancy.discrepancyId)
          }),
        ),
      )
      const nowMs = clock.monotonicMs()
      const isFinal = chainReader?.positionChange !== undefined
      absentSinceMs = new Map([...absent].map((id) => [id, absentSinceMs.get(id) ?? nowMs]))
      return new Map(
        [...absentSinceMs].flatMap(([id, sinceMs]) =>
          isFinal || nowMs - sinceMs >= LIST_LAG_MS ? [[id, isFinal ? 'final' : 'lists'] as const] : [],
        ),
      )
    },
    async unproven(trades) {
      const open = trades.filter(({ id }) => !proven.has(id))
      const asked = open.filter(({ id }) => !asking.has(id)).slice(0, mostAsked)
      if (asked.length > 0)
        await waitAtMost(clock, longestWaitMs, Promise.all(asked.map((trade) => ask(trade))))
      if (proven.size > remembered) {
        proven.clear()
        results.clear()
      }
      const nowMs = clock.monotonicMs()
      const left = new Map<string, 'waits' | 'late'>()
      for (const { id, ...trade } of open) {
        if (proven.has(id)) continue
        // Keyed by the side, not by the row: whoever invents rows can give each of them a new id.
        const side = `${trade.marketToken}:${trade.direction}:${trade.initialCollateralToken}`.toLowerCase()
        const before = waits.get(side)
        const goesOn = before !== undefined && nowMs - before.lastMs <= graceMs
        const sinceMs = goesOn ? before.sinceMs : nowMs
        waits.set(side, { sinceMs, lastMs: nowMs })
        left.set(id, nowMs - sinceMs > graceMs ? 'late' : 'waits')
      }
      return left
    },
  }
}
