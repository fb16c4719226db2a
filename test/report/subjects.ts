/** Subjects of reports that tests make by hand. */
import { parseUnits, USD_DECIMALS, type Usd } from '../../src/protocol/units.ts'
import type { EquityMoment, ReportSubject, Trade } from '../../src/report/figures/reportSubject.ts'

/** An amount of whole or decimal dollars, `-1.5`. */
export function usd(text: string | number): Usd {
  const plain = String(text)
  return plain.startsWith('-') ? -parseUnits(plain.slice(1), USD_DECIMALS) : parseUnits(plain, USD_DECIMALS)
}

/** 2024-01-02 00:00 UTC. */
export const start = Date.UTC(2024, 0, 2) / 1000
/** Seconds of a day. */
export const DAY = 86_400

/** A figure of the curve, some days after the beginning. */
export function worth(days: number, dollars: string | number, holdDollars?: string | number): EquityMoment {
  return {
    second: start + days * DAY,
    equityUsd: usd(dollars),
    holdUsd: holdDollars === undefined ? null : usd(holdDollars),
    longUsd: 0n,
    shortUsd: 0n,
  }
}

/** A closed trade with a result; `more` changes it. */
export function trade(result: string | number, more: Partial<Trade> = {}): Trade {
  return {
    strategy: 'eth-trend',
    market: 'ETH/USD [WETH-USDC]',
    side: 'long',
    openedSecond: start,
    closedSecond: start + 3_600,
    sizeUsd: usd(1000),
    entryPrice: usd(2000),
    exitPrice: usd(2010),
    costsUsd: usd(1),
    resultUsd: usd(result),
    openReason: 'the trend is up',
    closeReason: 'take-profit',
    intentIds: ['0123456789abcdef01234567'],
    ...more,
  }
}

/** A subject whose curve is 100, 110, 99 and 108.9 dollars at four midnights; `more` changes it. */
export function subject(more: Partial<ReportSubject> = {}): ReportSubject {
  return {
    title: 'eth-trend',
    name: 'run',
    source: 'backtest',
    isResult: true,
    assumptions: ['Own orders move no price.'],
    fromSeconds: start,
    toSeconds: start + 3 * DAY,
    equity: [worth(0, 100, 100), worth(1, 110, 90), worth(2, 99, 120), worth(3, '108.9', 150)],
    transfers: [],
    trades: [],
    turnoverUsd: usd(2000),
    candles: [],
    costs: {
      positionFeeUsd: usd(1),
      impactUsd: usd('-0.5'),
      fundingUsd: usd('0.2'),
      borrowingUsd: usd('0.1'),
      executionUsd: usd('0.4'),
      relayUsd: usd('0.6'),
      swapUsd: 0n,
      liquidationUsd: 0n,
    },
    journalPath: '/runs/a run/journal.db',
    configuration: { seed: '1' },
    ...more,
  }
}
