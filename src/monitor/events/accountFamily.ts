/** Events of the account: its positions, its books, and changes that no order explains. */

import type { AccountEvent } from '../../domain/accountEvent.ts'
import type { Discrepancy, DiscrepancyKind } from '../../domain/accountRecords/accountRecord.ts'
import type { UnlistedSide } from '../../domain/accountRecords/held.ts'
import { shortHex } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { absOf, type Usd } from '../../protocol/units.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { asNumber } from '../seriesNumber.ts'
import { counted, listed, money, plain } from '../text.ts'
import type { EventFamily, Field, NoticeFacts } from './eventRow.ts'

const discrepancyKinds: readonly DiscrepancyKind[] = [
  'liquidation',
  'adl',
  'external-close',
  'manual-decrease',
  'manual-increase',
  'unexplained-order',
  'changed-order',
  'unexplained-position',
]

function series({ counter, gauge }: SeriesMaker) {
  const discrepancies = counter('perpd_discrepancies_total', 'Discrepancies found on the account, by kind.', [
    'kind',
  ])
  for (const kind of discrepancyKinds) discrepancies.inc({ kind }, 0)
  const transfers = counter(
    'perpd_account_transfers_total',
    'Deposits (in) and withdrawals (out) that no order explains.',
    ['direction'],
  )
  const transferred = counter(
    'perpd_account_transferred_usd_total',
    'Sums of deposits (in) and withdrawals (out) that no order explains, US dollars at the prices of the time.',
    ['direction'],
  )
  for (const direction of ['in', 'out']) {
    transfers.inc({ direction }, 0)
    transferred.inc({ direction }, 0)
  }
  const deferred = gauge(
    'perpd_discrepancies_deferred',
    'Discrepancies beyond the journal rate limit that are not recorded yet.',
  )
  return { discrepancies, transfers, transferred, deferred }
}

const discrepancyFields: readonly Field<{ readonly discrepancy: Discrepancy }>[] = [
  ['discrepancy_id', ({ discrepancy }) => discrepancy.discrepancyId],
  ['discrepancy_kind', ({ discrepancy }) => discrepancy.kind],
  ['market_token', ({ discrepancy }) => discrepancy.marketToken],
  ['direction', ({ discrepancy }) => discrepancy.direction],
  ['size_delta_usd', ({ discrepancy }) => discrepancy.sizeDeltaUsd],
  ['order_key', ({ discrepancy }) => discrepancy.orderKey],
  ['tx_hash', ({ discrepancy }) => discrepancy.transactionHash],
]

/** Events of the account. */
export const accountFamily: EventFamily<
  Extract<AccountEvent, { type: `account.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'account.positions': {
      levels: ['info'],
      meaning: 'Positions of the account, when one appears, goes or changes size.',
      word: 'position',
      text: positionsText,
      fields: [
        [
          'positions',
          ({ positions, symbols }) =>
            positions.map(({ marketToken, direction, sizeInUsd, pnlAfterFeesUsd }) => ({
              market: symbols[marketToken.toLowerCase()] ?? marketToken,
              direction,
              size_in_usd: sizeInUsd,
              pnl_after_fees_usd: pnlAfterFeesUsd,
            })),
        ],
      ],
      isFromOutside: true,
    },
    'account.unmanaged': {
      levels: ['info', 'warn'],
      level: ({ isOver }) => (isOver === true ? 'info' : 'warn'),
      meaning: 'A position is unmanaged: its strategies do not run; at info, this ended.',
      word: 'position',
      text: (event) =>
        event.isOver === true
          ? `${event.direction} ${event.symbol} is managed again, or closed`
          : unmanagedText(event),
      fields: [
        ['market', ({ symbol }) => symbol],
        ...(['direction', 'size_usd', 'made_by', 'seen_by'] as const),
        ['is_over', ({ isOver }) => isOver === true],
      ],
      isFromOutside: true,
      notice: ({ symbol, direction, isOver }) => ({
        kind: 'position-unmanaged',
        cause: `unmanaged:${symbol}:${direction}`,
        ...(isOver === true
          ? { isEnd: true }
          : { action: manageCommands('its strategy', symbol, direction) }),
      }),
    },
    'account.discrepancy': {
      levels: ['warn', 'error'],
      level: ({ isPausing }) => (isPausing ? 'error' : 'warn'),
      meaning:
        'A discrepancy: the journal cannot explain a change of the account; at error, increases there wait.',
      word: 'account',
      text: ({ discrepancy, isPausing }) =>
        `${plain(discrepancy.statement)}${isPausing ? `. Increases on this market wait; settle it: ${settleCommand(discrepancy)}` : ''}`,
      fields: discrepancyFields,
      isFromOutside: true,
      moves: ({ discrepancies }, { discrepancy: { kind } }) => discrepancies.inc({ kind }),
      notice: ({ discrepancy, isPausing }) => ({
        kind: 'account-change',
        cause: `discrepancy:${discrepancy.discrepancyId}`,
        ...discrepancyAction(discrepancy, isPausing),
      }),
    },
    'account.discrepanciesDeferred': {
      levels: ['info', 'error'],
      level: ({ held }) => (held === 0 ? 'info' : 'error'),
      meaning: 'Discrepancies that are not recorded yet; at info, all are.',
      word: 'account',
      text({ held, isJournalShort }) {
        if (held === 0) return 'all discrepancies of the account are recorded'
        const changes = counted(held, 'unexplained change')
        return isJournalShort
          ? `${changes} of the account ${held === 1 ? 'is' : 'are'} not recorded: the remaining journal space is reserved for orders. Increases there wait: give the journal more space (journal.maxMiB, or the disk)`
          : `${changes} of the account ${held === 1 ? 'exceeds' : 'exceed'} the recording rate: a host shows false rows, or somebody else uses the key. Increases there wait; check perpd discrepancies and the account`
      },
      fields: [
        'held',
        ['journal_short', ({ held, isJournalShort }) => (held === 0 ? undefined : isJournalShort)],
      ],
      isFromOutside: true,
      repeats: ({ isJournalShort }) => ['discrepancies held', String(isJournalShort)],
      moves: ({ deferred }, { held }) => deferred.set(held),
      notice({ held, isJournalShort }) {
        if (held === 0) return { kind: 'journal', cause: 'deferred', isEnd: true }
        return {
          kind: isJournalShort ? 'journal' : 'account-change',
          cause: 'deferred',
          action: isJournalShort
            ? 'Give the journal more space: journal.maxMiB, or the disk.'
            : 'Check perpd discrepancies.',
        }
      },
    },
    'account.booksDiffer': {
      levels: ['error'],
      meaning: 'The books do not match the journal: a bug in perpd.',
      word: 'account',
      text: (event) =>
        `the books of ${event.direction} ${shortHex(event.marketToken)} add up to ${money(event.booksUsd)}, but the journal has ${money(event.expectedUsd)}${tokensApart(event)}: a bug in perpd; please report it with \`perpd journal export\`. Limits use positions, not books`,
      fields: ['market_token', 'direction', 'books_usd', 'expected_usd', 'books_tokens', 'expected_tokens'],
      notice: ({ marketToken, direction }) => ({
        kind: 'books-differ',
        cause: `books:${marketToken}:${direction}`,
        action: 'Report it with the output of perpd journal export.',
      }),
    },
    'account.booksAgree': {
      levels: ['info'],
      meaning: 'The books match the journal again.',
      word: 'account',
      text: ({ direction, marketToken }) =>
        `the books of ${direction} ${shortHex(marketToken)} match the journal again`,
      fields: ['market_token', 'direction'],
      notice: ({ marketToken, direction }) => ({
        kind: 'books-differ',
        cause: `books:${marketToken}:${direction}`,
        isEnd: true,
      }),
    },
    'account.discrepancySettled': {
      levels: ['info'],
      meaning: 'A discrepancy was settled.',
      word: 'account',
      text: (event) => `${event.as}: ${plain(event.discrepancy.statement)}`,
      fields: [...discrepancyFields, ['settled_as', (event) => event.as]],
      isFromOutside: true,
      notice: ({ discrepancy }) => ({
        kind: 'account-settled',
        cause: `discrepancy:${discrepancy.discrepancyId}`,
        isEnd: true,
      }),
    },
    'account.equityJumped': {
      levels: ['warn'],
      meaning: 'A reading of the equity is far from the last minute.',
      word: 'account',
      text: ({ readingUsd, equityUsd }) =>
        `an equity reading of ${money(readingUsd)} is far from the ${money(equityUsd)} of the last minute; it counts once most readings confirm it`,
      fields: ['reading_usd', 'equity_usd'],
    },
    'account.transferred': {
      levels: ['info', 'warn'],
      level: ({ amountUsd }) => (amountUsd < 0n ? 'warn' : 'info'),
      meaning: 'A deposit, or, at warn, a withdrawal that no order explains.',
      word: 'account',
      text: ({ amountUsd, afterUsd }) =>
        amountUsd < 0n
          ? `${money(-amountUsd)} left the account without an order: counted as a withdrawal, not as a loss. The equity is now ${money(afterUsd)}`
          : `${money(amountUsd)} reached the account without an order: counted as a deposit, not as a gain. The equity is now ${money(afterUsd)}`,
      fields: ['amount_usd', ['equity_usd', ({ afterUsd }) => afterUsd]],
      moves({ transfers, transferred }, { amountUsd }) {
        const direction = amountUsd > 0n ? 'in' : 'out'
        transfers.inc({ direction })
        transferred.inc({ direction }, asNumber(absOf(amountUsd)))
      },
      notice: ({ amountUsd, afterUsd }) => ({
        kind: 'account-transfer',
        cause: `transfer:${amountUsd}:${afterUsd}`,
        ...(amountUsd < 0n && {
          action:
            'If it was not you, the key is stolen: perpd kill --close, then move the funds to another account.',
        }),
      }),
    },
  },
}

/** `long ETH/USD [WETH-USDC] $500.00, PnL before closing costs $1.20`. */
function positionText(position: Position, symbols: Readonly<Record<string, string>>): string {
  const symbol = symbols[position.marketToken.toLowerCase()] ?? shortHex(position.marketToken)
  const pnl = position.pnlAfterFeesUsd
  return `${position.direction} ${symbol} ${money(position.sizeInUsd)}, PnL before closing costs ${money(pnl)}`
}

function positionsText({
  positions,
  symbols,
  unlisted = [],
}: Extract<AccountEvent, { type: 'account.positions' }>): string {
  if (positions.length + unlisted.length === 0) return 'the account has no positions'
  return [
    ...positions.map((position) => positionText(position, symbols)),
    ...unlisted.map((side) => unlistedText(side, symbols)),
  ].join('; ')
}

/** ` (in base units of the index token 5, and 7)`; nothing where tokens agree. */
function tokensApart({
  booksTokens,
  expectedTokens,
}: Extract<AccountEvent, { type: 'account.booksDiffer' }>): string {
  if (booksTokens === undefined || expectedTokens === undefined) return ''
  return ` (in base units of the index token ${booksTokens}, and ${expectedTokens})`
}

/** `long ETH/USD [WETH-USDC] of $500.00: its row cannot be read ...`: a position without a row that can be read. */
export function unlistedText(
  {
    marketToken,
    direction,
    sizeUsd,
    why,
  }: Pick<UnlistedSide, 'marketToken' | 'direction' | 'why'> & { readonly sizeUsd: Usd | string },
  symbols: Readonly<Record<string, string>>,
): string {
  return `${direction} ${symbols[marketToken.toLowerCase()] ?? marketToken} of ${money(BigInt(sizeUsd))}: ${why}`
}

/** `long ETH/USD [WETH-USDC] of $500.00: eth-trend opened it and does not run ...`: an unmanaged position, and what to do. */
export function unmanagedText({
  symbol,
  direction,
  sizeUsd,
  madeBy,
  seenBy,
}: Omit<Extract<AccountEvent, { type: 'account.unmanaged' }>, 'type'>): string {
  const [who, does, their] =
    madeBy.length === 1 ? [listed(madeBy), 'does', 'its file is'] : [listed(madeBy), 'do', 'their files are']
  const others = seenBy.length === 0 ? 'no other strategy sees it' : `only ${seenBy.join(', ')} sees it`
  return `${direction} ${symbol} of ${money(sizeUsd)} is unmanaged: ${who} opened it and ${does} not run (${their} gone or disabled); ${others}. ${manageCommands(who, symbol, direction)}`
}

/** Returns the commands that settle a discrepancy. */
function settleCommand({ discrepancyId }: Discrepancy): string {
  return `perpd discrepancies adopt ${discrepancyId} --by NAME, or ignore in place of adopt`
}

/** Returns the commands that end an unmanaged position. */
function manageCommands(who: string, symbol: string, direction: string): string {
  return `Enable ${who} in its file and load it (perpd strategies reload), or close the position: perpd close "${symbol}" ${direction}`
}

/** Returns the action that a change of the account not made by perpd requires from a person. */
function discrepancyAction(discrepancy: Discrepancy, isPausing: boolean): Pick<NoticeFacts, 'action'> {
  if (isPausing) return { action: `Settle it: ${settleCommand(discrepancy)}` }
  if (discrepancy.kind !== 'liquidation' && discrepancy.kind !== 'adl') return {}
  return {
    action:
      'Check which positions are near their liquidation: perpd positions. To block new exposure meanwhile: perpd trading reducing',
  }
}
