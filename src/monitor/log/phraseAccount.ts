/** Formats the log lines about events of the account, its approval, its limits and the state of trading. */
import { isoTime } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { AccountEvent } from '../../domain/accountEvent.ts'
import type { Discrepancy } from '../../domain/accountRecords/accountRecord.ts'
import type { UnlistedSide } from '../../domain/accountRecords/held.ts'
import type { LeftPosition } from '../../domain/taskStates/killState.ts'
import { shortHex } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import { leftPositionText } from '../leftPositionText.ts'
import { counted, listed, money, plain, tradingText } from '../text.ts'
import { line, type Phrases, usdField } from './line.ts'

/** `long ETH/USD [WETH-USDC] $500.00, PnL before closing costs $1.20`. */
function positionText(position: Position, symbols: Readonly<Record<string, string>>): string {
  const symbol = symbols[position.marketToken.toLowerCase()] ?? shortHex(position.marketToken)
  const pnl = position.pnlAfterFeesUsd
  return `${position.direction} ${symbol} ${money(position.sizeInUsd)}, PnL before closing costs ${money(pnl)}`
}

/** ` (in base units of the index token 5, and 7)`; nothing where tokens agree. */
function tokensApart({
  booksTokens,
  expectedTokens,
}: Pick<Extract<AccountEvent, { type: 'account.booksDiffer' }>, 'booksTokens' | 'expectedTokens'>): string {
  if (booksTokens === undefined || expectedTokens === undefined) return ''
  return ` (in base units of the index token ${booksTokens}, and ${expectedTokens})`
}

function positionsText(event: Extract<AccountEvent, { type: 'account.positions' }>): string {
  const { positions, symbols, unlisted = [] } = event
  if (positions.length + unlisted.length === 0) return 'the account has no positions'
  return [
    ...positions.map((position) => positionText(position, symbols)),
    ...unlisted.map((side) => unlistedText(side, symbols)),
  ].join('; ')
}

/** `long ETH/USD [WETH-USDC] of $500.00: its row cannot be read ...`: what is held without a row that can be read. */
export function unlistedText(
  {
    marketToken,
    direction,
    sizeUsd,
    why,
  }: Pick<UnlistedSide, 'marketToken' | 'direction' | 'why'> & {
    readonly sizeUsd: Usd | string
  },
  symbols: Readonly<Record<string, string>>,
): string {
  return `${direction} ${symbols[marketToken.toLowerCase()] ?? marketToken} of ${money(BigInt(sizeUsd))}: ${why}`
}

/** `long ETH/USD [WETH-USDC] of $500.00: eth-trend made it and does not run ...`: what is without a manager, and what to do. */
export function unmanagedText({
  symbol,
  direction,
  sizeUsd,
  madeBy,
  seenBy,
}: Omit<Extract<AccountEvent, { type: 'account.unmanaged' }>, 'type'>): string {
  const [who, does, their] =
    madeBy.length === 1 ? [madeBy[0], 'does', 'its file is'] : [listed(madeBy), 'do', 'their files are']
  const others = seenBy.length === 0 ? 'no other strategy sees it' : `only ${seenBy.join(', ')} sees it`
  return `${direction} ${symbol} of ${money(sizeUsd)} is unmanaged: ${who} opened it and ${does} not run (${their} gone or disabled); ${others}. Enable ${who} and restart perpd, or close the position: perpd close`
}

function discrepancyFields(discrepancy: Discrepancy): Readonly<Record<string, unknown>> {
  return {
    discrepancy_id: discrepancy.discrepancyId,
    discrepancy_kind: discrepancy.kind,
    market_token: discrepancy.marketToken,
    direction: discrepancy.direction,
    size_delta_usd: usdField(discrepancy.sizeDeltaUsd),
    ...defined({ order_key: discrepancy.orderKey, tx_hash: discrepancy.transactionHash }),
  }
}

/** The line of each event of the account, of its approval, its limits and the state of trading. */
export const accountPhrases: Phrases<Exclude<AccountEvent['type'], `market.${string}`>> = {
  'account.positions': (event) =>
    line('info', 'position', positionsText(event), {
      positions: event.positions.map((position) => ({
        market: event.symbols[position.marketToken.toLowerCase()] ?? position.marketToken,
        direction: position.direction,
        size_in_usd: position.sizeInUsd,
        pnl_after_fees_usd: position.pnlAfterFeesUsd,
      })),
    }),
  'account.unmanaged': (event) =>
    line(
      event.isOver === true ? 'info' : 'warn',
      'position',
      event.isOver === true
        ? `${event.direction} ${event.symbol} is managed again, or closed`
        : unmanagedText(event),
      {
        market: event.symbol,
        direction: event.direction,
        size_usd: usdField(event.sizeUsd),
        made_by: event.madeBy,
        seen_by: event.seenBy,
        is_over: event.isOver === true,
      },
    ),
  'account.discrepancy': (event) => {
    const { discrepancy, isPausing } = event
    const next = isPausing
      ? `. Increases on this market wait; settle it: \`perpd discrepancies adopt|ignore ${discrepancy.discrepancyId} --by NAME\``
      : ''
    return line(
      isPausing ? 'error' : 'warn',
      'account',
      `${plain(discrepancy.statement)}${next}`,
      discrepancyFields(discrepancy),
    )
  },
  'account.booksDiffer': (event) =>
    line(
      'error',
      'account',
      `the books of ${event.direction} ${shortHex(event.marketToken)} add up to ${money(event.booksUsd)}, but the journal has ${money(event.expectedUsd)}${tokensApart(event)}: a bug in perpd; please report it with \`perpd journal export\`. Limits use positions, not books`,
      {
        market_token: event.marketToken,
        direction: event.direction,
        books_usd: usdField(event.booksUsd),
        expected_usd: usdField(event.expectedUsd),
        ...(event.booksTokens !== undefined && { books_tokens: event.booksTokens.toString() }),
        ...(event.expectedTokens !== undefined && { expected_tokens: event.expectedTokens.toString() }),
      },
    ),
  'account.booksAgree': ({ direction, marketToken }) =>
    line('info', 'account', `the books of ${direction} ${shortHex(marketToken)} match the journal again`, {
      market_token: marketToken,
      direction,
    }),
  'account.discrepanciesDeferred': (event) => {
    if (event.held === 0) {
      return line('info', 'account', 'all discrepancies of the account are recorded', {
        held: 0,
      })
    }
    return line(
      'error',
      'account',
      event.isJournalShort
        ? `${counted(event.held, 'unexplained change')} of the account ${event.held === 1 ? 'is' : 'are'} not recorded: the remaining journal space is reserved for orders. Increases there wait: give the journal more space (journal.maxMiB, or the disk)`
        : `${counted(event.held, 'unexplained change')} of the account ${event.held === 1 ? 'exceeds' : 'exceed'} the recording rate: a host shows false rows, or somebody else uses the key. Increases there wait; check perpd discrepancies and the account`,
      { held: event.held, journal_short: event.isJournalShort },
    )
  },
  'account.discrepancySettled': (event) =>
    line('info', 'account', `${event.as}: ${plain(event.discrepancy.statement)}`, {
      ...discrepancyFields(event.discrepancy),
      settled_as: event.as,
    }),
  'account.equityJumped': (event) =>
    line(
      'warn',
      'account',
      `an equity reading of ${money(event.readingUsd)} is far from the ${money(event.equityUsd)} of the last minute; it counts once most readings confirm it`,
      { reading_usd: usdField(event.readingUsd), equity_usd: usdField(event.equityUsd) },
    ),
  'account.transferred': (event) =>
    line(
      event.amountUsd < 0n ? 'warn' : 'info',
      'account',
      event.amountUsd < 0n
        ? `${money(-event.amountUsd)} left the account without an order: counted as a withdrawal, not as a loss. The equity is now ${money(event.afterUsd)}`
        : `${money(event.amountUsd)} reached the account without an order: counted as a deposit, not as a gain. The equity is now ${money(event.afterUsd)}`,
      { amount_usd: usdField(event.amountUsd), equity_usd: usdField(event.afterUsd) },
    ),
  'subaccount.read': (event) =>
    line('debug', 'account', `${event.report.remainingActions} actions of the approval left`, {
      remaining_actions: event.report.remainingActions,
      needed_actions: event.report.neededActions,
      expires_at_s: event.report.expiresAtSeconds,
    }),
  'subaccount.unread': (event) =>
    line('error', 'account', `the approval is ignored: ${plain(event.reason)}`, {
      reason: event.reason,
    }),
  'subaccount.fileRight': () =>
    line('info', 'account', 'the file of the approval is valid again or gone', {}),
  'subaccount.low': (event) => {
    const { remainingActions, neededActions, address, isActive, isApprovalWaiting } = event.report
    const isGone = !isActive && !isApprovalWaiting
    return line(
      isGone ? 'error' : 'warn',
      'account',
      isGone
        ? `the delegated key ${address} is not approved on the chain, and no approval waits: its messages cannot land; resting orders and positions stay. If you did not revoke it, check the owner's account. To approve it: perpd subaccount approve`
        : `the approval of the delegated key ${address} ends soon: ${remainingActions} actions left, ${neededActions} of them needed to close everything, and ${Math.max(0, event.secondsLeft)} s. Renew it: perpd subaccount approve`,
      {
        remaining_actions: remainingActions,
        needed_actions: neededActions,
        seconds_left: event.secondsLeft,
      },
    )
  },
  'subaccount.renewed': ({ report }) => {
    const { address, remainingActions, neededActions, expiresAtSeconds, isApprovalWaiting } = report
    const waits = isApprovalWaiting ? '. The next order carries it to the chain' : ''
    return line(
      'info',
      'account',
      `the approval of the delegated key ${address} is renewed: ${remainingActions} actions left, ${neededActions} of them needed to close everything, until ${isoTime(expiresAtSeconds * 1_000)}${waits}`,
      {
        remaining_actions: remainingActions,
        needed_actions: neededActions,
        expires_at_s: expiresAtSeconds,
      },
    )
  },
  'subaccount.renewal': (event) =>
    line(
      'warn',
      'account',
      `the renewal of the delegated key's approval is in ${event.file}, unsigned: ${event.actions} actions beyond the ${event.usedActions} used (counted by ${event.by}), until ${isoTime(event.expiresAtSeconds * 1_000)}. Sign it with the owner's wallet, and import the signature: perpd subaccount approve --request ${event.file} --signature FILE`,
      {
        file: event.file,
        actions: event.actions,
        used_actions: event.usedActions,
        expires_at_s: event.expiresAtSeconds,
      },
    ),
  'claim.read': ({ worthUsd }) =>
    line('debug', 'account', `${money(worthUsd)} can be claimed`, { worth_usd: usdField(worthUsd) }),
  'claim.prepared': ({ file, worthUsd, calls, pairs }) =>
    line(
      'warn',
      'account',
      `${money(worthUsd)} can be claimed; ${counted(calls, 'call')} for the owner's wallet ${calls === 1 ? 'is' : 'are'} in ${file}, unsigned. Check them and send them from the owner's wallet`,
      { file, worth_usd: usdField(worthUsd), calls, pairs },
    ),
  'claim.over': ({ file }) =>
    line('info', 'account', `the amounts in ${file} were claimed; perpd removed the file`, { file }),
  'kill.step': (event) =>
    line(
      event.step === 'stuck' || event.step === 'unproven' ? 'error' : 'warn',
      'kill',
      killStepText(event),
      {
        step: event.step,
        ...('positions' in event ? { positions: event.positions } : {}),
        ...('reason' in event ? { reason: event.reason } : {}),
      },
    ),
  'limits.changed': ({ statement, by }) =>
    line('warn', 'limits', `limits changed by ${plain(by)}: ${plain(statement)}`, { by }),
  'limits.started': (event) =>
    line(
      event.isLooser ? 'warn' : 'info',
      'limits',
      `limits changed since the last run: ${plain(event.statement)}`,
      { is_looser: event.isLooser },
    ),
  'trading.state': (event) =>
    line(
      event.state === 'active' ? 'info' : 'warn',
      'trading',
      `${tradingText(event.scope, event.state)}: ${plain(event.reason)}`,
      {
        scope: event.scope,
        state_to: event.state,
        reason: event.reason,
      },
    ),
}

function killStepText(event: Extract<AccountEvent, { readonly type: 'kill.step' }>): string {
  switch (event.step) {
    case 'cancelled':
      return event.close
        ? 'kill: cancelling every order that adds risk, then closing all positions; their exits stay until then'
        : `kill: cancelling every order that adds risk; ${staysText(event.stays)}`
    case 'closing':
      return `kill: closing ${counted(event.positions, 'position')} at the market`
    case 'stuck':
      return `the kill makes no progress: ${plain(event.reason)}. perpd keeps retrying`
    case 'done':
      return event.close
        ? 'the kill is done: no order rests and no position is open'
        : `the kill is done: no resting order adds risk; ${staysText(event.stays)}`
    case 'unproven':
      return `the kill ended without proof: ${plain(event.reason)}${event.close ? '' : `; ${staysText(event.stays)}`}`
    case 'abandoned':
      return 'the kill was abandoned: an operator resumed trading'
  }
}

/** The positions that a kill without closing leaves, and their protection. */
function staysText(stays: readonly LeftPosition[]): string {
  return stays.length === 0 ? 'no position is open' : `held is ${stays.map(leftPositionText).join(', ')}`
}
