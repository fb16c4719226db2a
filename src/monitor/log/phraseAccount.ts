/** How the account, its evidence, its keys and the state of trading read. */
import type { Discrepancy } from '../../domain/account/accountRecord.ts'
import type { Event } from '../../domain/event.ts'
import { shortHex } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { counted, money, plain, span, tradingText } from '../text.ts'
import { type Line, line, usdField } from './line.ts'

/** `long ETH/USD [WETH-USDC] $500.00, PnL $1.20`. */
function positionText(position: Position, symbols: Readonly<Record<string, string>>): string {
  const symbol = symbols[position.marketToken.toLowerCase()] ?? shortHex(position.marketToken)
  const pnl = position.pnlAfterFeesUsd
  return `${position.direction} ${symbol} ${money(position.sizeInUsd)}, PnL after fees ${money(pnl)}`
}

function positionsText(event: Extract<Event, { type: 'account.positions' }>): string {
  if (event.positions.length === 0) return 'the account has no positions'
  return event.positions.map((position) => positionText(position, event.symbols)).join('; ')
}

/** `long ETH/USD [WETH-USDC] of $500.00: eth-trend made it and does not run ...`: what is without a manager, and what to do. */
export function unmanagedText({
  symbol,
  direction,
  sizeUsd,
  madeBy,
  seenBy,
}: Omit<Extract<Event, { type: 'account.unmanaged' }>, 'type'>): string {
  const [who, does, their] =
    madeBy.length === 1 ? [madeBy[0], 'does', 'its file is'] : [madeBy.join(' and '), 'do', 'their files are']
  const others =
    seenBy.length === 0 ? 'no other strategy looks at it' : `only ${seenBy.join(', ')} looks at it`
  return `${direction} ${symbol} of ${money(sizeUsd)} has no manager: ${who} made it and ${does} not run (${their} gone or disabled); ${others}. Enable ${who} and start again, or close the position: perpd close`
}

function discrepancyFields(discrepancy: Discrepancy): Readonly<Record<string, unknown>> {
  return {
    finding_id: discrepancy.findingId,
    finding_kind: discrepancy.kind,
    market_token: discrepancy.marketToken,
    direction: discrepancy.direction,
    size_delta_usd: usdField(discrepancy.sizeDeltaUsd),
    ...(discrepancy.orderKey === undefined ? {} : { order_key: discrepancy.orderKey }),
    ...(discrepancy.transactionHash === undefined ? {} : { tx_hash: discrepancy.transactionHash }),
  }
}

/** The line of something about the account. */
export function accountLine(
  event: Extract<
    Event,
    {
      type:
        | 'evidence.chosen'
        | 'chain.read'
        | 'chain.skew'
        | 'chain.time'
        | 'account.positions'
        | 'account.unmanaged'
        | 'account.discrepancy'
        | 'account.discrepancySettled'
        | 'account.discrepanciesDeferred'
        | 'account.equityJumped'
        | 'subaccount.read'
        | 'subaccount.unread'
        | 'subaccount.low'
        | 'limits.started'
        | 'trading.state'
    }
  >,
): Line {
  switch (event.type) {
    case 'evidence.chosen':
      return line(
        event.isWeak ? 'warn' : 'info',
        'evidence',
        event.isWeak
          ? `NO CHAIN ENDPOINT: orders close by ${event.text}. Set rpc.http to prove how they end`
          : event.source === 'chain'
            ? `how an order ended is read from ${event.text}`
            : `orders close by ${event.text}`,
        { source: event.source, endpoints: event.endpoints, is_weak: event.isWeak },
      )
    case 'chain.read': {
      const heads =
        event.latest === undefined ? '' : `, block ${event.latest}, final ${event.final ?? 'unknown'}`
      return line(
        event.error === undefined ? 'debug' : 'warn',
        'chain',
        event.error === undefined
          ? `${event.endpoint} read in ${span(event.durationMs)}${heads}`
          : `${plain(event.error)}. Orders that need its evidence stay open`,
        {
          endpoint: event.endpoint,
          outcome: event.outcome,
          latency_ms: event.durationMs,
          ...(event.latest !== undefined && { latest_block: event.latest }),
          ...(event.final !== undefined && { final_block: event.final }),
          ...(event.lagBlocks !== undefined && { lag_blocks: event.lagBlocks }),
          ...(event.latestAgeSeconds !== undefined && { block_age_seconds: event.latestAgeSeconds }),
          ...(event.error !== undefined && { reason: event.error }),
        },
      )
    }
    case 'chain.skew':
      return line(
        'warn',
        'chain',
        `our clock is ${Math.abs(Math.round(event.skewSeconds))} s ${event.skewSeconds > 0 ? 'before' : 'behind'} the chain's time${event.isTooLarge ? '. Nothing that adds risk is signed until they agree' : ''}. Look at this machine's clock, and at how far the endpoints lag`,
        { skew_seconds: event.skewSeconds, is_too_large: event.isTooLarge },
      )
    case 'chain.time': {
      const { endpoint, aheadSeconds, isSetAside, healthy } = event
      const apart = `${span(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead of' : 'behind'} our clock and the hosts'`
      const next =
        healthy > 0
          ? 'Another endpoint tells the time, and orders go on; none is proven to have ended before this one agrees'
          : 'No endpoint tells the time: increases wait, reductions go on; no order is proven to have ended before it agrees'
      return line(
        isSetAside ? 'warn' : 'debug',
        'chain',
        isSetAside
          ? `${endpoint} is set aside for the time: its newest block is ${apart}. ${next}. Look at this endpoint, or take it out of the configuration and start again`
          : `the newest block of ${endpoint} is ${apart}`,
        { endpoint, ahead_seconds: aheadSeconds, is_set_aside: isSetAside, healthy },
      )
    }
    case 'account.positions':
      return line('info', 'position', positionsText(event), {
        positions: event.positions.map((position) => ({
          market: event.symbols[position.marketToken.toLowerCase()] ?? position.marketToken,
          direction: position.direction,
          size_in_usd: position.sizeInUsd,
          pnl_after_fees_usd: position.pnlAfterFeesUsd,
        })),
      })
    case 'account.unmanaged':
      return line('warn', 'position', unmanagedText(event), {
        market: event.symbol,
        direction: event.direction,
        size_usd: usdField(event.sizeUsd),
        made_by: event.madeBy,
        seen_by: event.seenBy,
      })
    case 'account.discrepancy': {
      const { finding: discrepancy, isPausing } = event
      const next = isPausing
        ? `. Increases on this market wait: say \`perpd discrepancies adopt|ignore ${discrepancy.findingId} --by NAME\``
        : ''
      return line(
        isPausing ? 'error' : 'warn',
        'account',
        `${plain(discrepancy.statement)}${next}`,
        discrepancyFields(discrepancy),
      )
    }
    case 'account.discrepancySettled':
      return line('info', 'account', `${event.as}: ${plain(event.finding.statement)}`, {
        ...discrepancyFields(event.finding),
        settled_as: event.as,
      })
    case 'account.discrepanciesDeferred':
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
    case 'account.equityJumped':
      return line(
        'warn',
        'account',
        `a reading of ${money(event.readingUsd)} is far from the ${money(event.equityUsd)} that the account is worth by the last minute; it counts when most readings show it`,
        { reading_usd: usdField(event.readingUsd), equity_usd: usdField(event.equityUsd) },
      )
    case 'subaccount.read':
      return line('debug', 'account', `${event.report.remainingActions} actions of the approval left`, {
        remaining_actions: event.report.remainingActions,
        needed_actions: event.report.neededActions,
        expires_at_s: event.report.expiresAtSeconds,
      })
    case 'subaccount.unread':
      return line('error', 'account', `the approval is not used: ${plain(event.reason)}`, {
        reason: event.reason,
      })
    case 'subaccount.low': {
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
    }
    case 'limits.started':
      return line(
        event.isLooser ? 'warn' : 'info',
        'limits',
        `limits changed since the last run: ${plain(event.statement)}`,
        { is_looser: event.isLooser },
      )
    case 'trading.state':
      return line(
        event.state === 'active' ? 'info' : 'warn',
        'trading',
        `${tradingText(event.scope, event.state)}: ${plain(event.reason)}`,
        {
          scope: event.scope,
          state_to: event.state,
          reason: event.reason,
        },
      )
  }
}
