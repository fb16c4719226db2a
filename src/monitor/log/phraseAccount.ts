/** Formats the log lines about events of the account, its approval, its limits and the state of trading. */
import { isoTime } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Discrepancy } from '../../domain/account/accountRecord.ts'
import type { UnlistedSide } from '../../domain/account/held.ts'
import type { AccountEvent } from '../../domain/accountEvent.ts'
import type { LeftPosition } from '../../domain/tasks/killState.ts'
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
  const others =
    seenBy.length === 0 ? 'no other strategy looks at it' : `only ${seenBy.join(', ')} looks at it`
  return `${direction} ${symbol} of ${money(sizeUsd)} has no manager: ${who} made it and ${does} not run (${their} gone or disabled); ${others}. Enable ${who} and start again, or close the position: perpd close`
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
        ? `${event.direction} ${event.symbol} has a manager again, or is closed`
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
      ? `. Increases on this market wait: say \`perpd discrepancies adopt|ignore ${discrepancy.discrepancyId} --by NAME\``
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
      `the books of ${event.direction} ${shortHex(event.marketToken)} add up to ${money(event.booksUsd)}, and the journal says ${money(event.expectedUsd)}${tokensApart(event)}: a mistake of perpd's own; please report it with \`perpd journal export\`. Limits count what is held, not books`,
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
    line(
      'info',
      'account',
      `the books of ${direction} ${shortHex(marketToken)} add up to the journal again`,
      {
        market_token: marketToken,
        direction,
      },
    ),
  'account.discrepanciesDeferred': (event) => {
    if (event.held === 0) {
      return line('info', 'account', 'all that cannot be explained on the account is written down', {
        held: 0,
      })
    }
    return line(
      'error',
      'account',
      event.isJournalShort
        ? `${counted(event.held, 'thing')} on the account cannot be explained and ${event.held === 1 ? 'is' : 'are'} not written down: the rest of the journal's space is kept for orders. Increases there wait: give the journal more space (journal.maxMiB, or the disk)`
        : `${counted(event.held, 'more thing')} on the account cannot be explained than may be written down in a time: a host shows what never was, or the key is used elsewhere. Increases there wait; look at perpd discrepancies and at the account`,
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
      `a reading of ${money(event.readingUsd)} is far from the ${money(event.equityUsd)} that the account is worth by the last minute; it counts when most readings show it`,
      { reading_usd: usdField(event.readingUsd), equity_usd: usdField(event.equityUsd) },
    ),
  'account.transferred': (event) =>
    line(
      event.amountUsd < 0n ? 'warn' : 'info',
      'account',
      event.amountUsd < 0n
        ? `${money(-event.amountUsd)} left the account and no order explains it: taken for a withdrawal, and no loss. The account is worth ${money(event.afterUsd)} now`
        : `${money(event.amountUsd)} came into the account and no order explains it: taken for a deposit, and no gain. The account is worth ${money(event.afterUsd)} now`,
      { amount_usd: usdField(event.amountUsd), equity_usd: usdField(event.afterUsd) },
    ),
  'subaccount.read': (event) =>
    line('debug', 'account', `${event.report.remainingActions} actions of the approval left`, {
      remaining_actions: event.report.remainingActions,
      needed_actions: event.report.neededActions,
      expires_at_s: event.report.expiresAtSeconds,
    }),
  'subaccount.unread': (event) =>
    line('error', 'account', `the approval is not used: ${plain(event.reason)}`, {
      reason: event.reason,
    }),
  'subaccount.fileRight': () =>
    line('info', 'account', 'nothing is wrong with the file of the approval any more', {}),
  'subaccount.low': (event) => {
    const { remainingActions, neededActions, address, isActive, isApprovalWaiting } = event.report
    const isGone = !isActive && !isApprovalWaiting
    return line(
      isGone ? 'error' : 'warn',
      'account',
      isGone
        ? `the delegated key ${address} is not approved on the chain, and no approval waits: nothing that it signs can land, what rests and what is held stays. Did you not revoke it? Check the owner's account. Else: perpd subaccount approve`
        : `the approval of the delegated key ${address} comes to its end: ${remainingActions} actions left, ${neededActions} of them to close what is open, and ${Math.max(0, event.secondsLeft)} s. Renew it: perpd subaccount approve`,
      {
        remaining_actions: remainingActions,
        needed_actions: neededActions,
        seconds_left: event.secondsLeft,
      },
    )
  },
  'subaccount.renewed': ({ report }) => {
    const { address, remainingActions, neededActions, expiresAtSeconds, isApprovalWaiting } = report
    const waits = isApprovalWaiting ? '. The next order takes it to the chain' : ''
    return line(
      'info',
      'account',
      `the approval of the delegated key ${address} is renewed: ${remainingActions} actions left, ${neededActions} of them to close what is open, until ${isoTime(expiresAtSeconds * 1_000)}${waits}`,
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
      `the renewal of the delegated key's approval is in ${event.file}, unsigned: ${event.actions} actions beyond the ${event.usedActions} that are used by the word of ${event.by}, until ${isoTime(event.expiresAtSeconds * 1_000)}. Have the owner's wallet sign it, and bring the signature back: perpd subaccount approve --request ${event.file} --signature FILE`,
      {
        file: event.file,
        actions: event.actions,
        used_actions: event.usedActions,
        expires_at_s: event.expiresAtSeconds,
      },
    ),
  'claim.read': ({ worthUsd }) =>
    line('debug', 'account', `${money(worthUsd)} may be claimed`, { worth_usd: usdField(worthUsd) }),
  'claim.prepared': ({ file, worthUsd, calls, pairs }) =>
    line(
      'warn',
      'account',
      `${money(worthUsd)} may be claimed; ${counted(calls, 'call')} for the owner's wallet ${calls === 1 ? 'is' : 'are'} in ${file}, unsigned. Read them, and send them from the owner's wallet`,
      { file, worth_usd: usdField(worthUsd), calls, pairs },
    ),
  'claim.over': ({ file }) =>
    line('info', 'account', `what ${file} named was claimed; the file is removed`, { file }),
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
        ? 'every order that adds risk is cancelled; what is held is closed, and its exits stay until it is'
        : `every order that adds risk is cancelled; ${staysText(event.stays)}`
    case 'closing':
      return `${counted(event.positions, 'position')} to be closed at the market`
    case 'stuck':
      return `the kill does not get on: ${plain(event.reason)}. It goes on trying`
    case 'done':
      return event.close
        ? 'the kill is done: nothing rests and nothing is held'
        : `the kill is done: nothing rests that adds risk; ${staysText(event.stays)}`
    case 'unproven':
      return `the kill is over without proof: ${plain(event.reason)}${event.close ? '' : `; ${staysText(event.stays)}`}`
    case 'abandoned':
      return 'the kill was abandoned: an operator lets trading go on'
  }
}

/** The positions that a kill without closing leaves, and their protection. */
function staysText(stays: readonly LeftPosition[]): string {
  return stays.length === 0 ? 'nothing is held' : `held is ${stays.map(leftPositionText).join(', ')}`
}
