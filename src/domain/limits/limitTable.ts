/**
 * The limits: one row each. These rows define the types, the settings under `risk`, the `limits` of strategy files, `risk.markets` and the comparison
 * of `perpd limits`. The tables of docs/reference/configuration.md, docs/reference/errors.md and docs/reference/strategies.md are printed from them.
 * The effect of a limit is described where it is checked: `risk/checks/checks.ts`, `risk/sizing/sizeLimits.ts`.
 */
/** Unit of a limit's figure. `times` is written as a leverage and stored in basis points; `native` is the chain's native token. */
export type LimitUnit = 'usd' | 'native' | 'bps' | 'times' | 'count' | 'ms'

/** One limit. */
export interface LimitRow {
  readonly unit: LimitUnit
  /** Direction in which the limit is tighter. A change the other way needs a restart or `perpd limits apply --confirm`. */
  readonly tighter: 'less' | 'more'
  /** The account's when nothing is set, as it is written in a configuration. */
  readonly initial: string | number
  /** Least and most that an account may set, for whole numbers. A least of 0 that means "no such limit" is `isOptional`. */
  readonly bounds?: readonly [number, number]
  /** Least and most in a strategy file, in its own unit, where they are others. */
  readonly fileBounds?: readonly [number, number]
  /** True if 0 in a configuration means that there is no such limit. */
  readonly isOptional?: true
  /** The account's alone: no market may have its own. */
  readonly isOfNoMarket?: true
  /** A limit of positions and orders in flight: the account's counts everything, a strategy's its own part. */
  readonly isExposure?: true
  /** True for a limit on usage: a market's limit counts everything that happened on it, a strategy's limit counts its own orders. */
  readonly isCounted?: true
  /** True for a limit on losses; the account's loss limit belongs to its breaker. */
  readonly isLoss?: true
  /** A share of the equity: without a figure of the equity nothing is increased. */
  readonly isEquityShare?: true
  /** Code of the refusal, and its sentence of docs/reference/errors.md; a limit that shares a code leaves the sentence to the first. */
  readonly denies: { readonly code: string; readonly meaning?: string }
  /** The limit adds up over the accounts of a process, and may be set for all of them together, under `desk`: its refusal and its sentence there. */
  readonly ofDesk?: { readonly code: string; readonly meaning: string; readonly doc: string }
  /** Sentence of docs/reference/configuration.md. */
  readonly doc: string
  /** The same for one strategy, in docs/reference/strategies.md. */
  readonly inFile: string
}

/** The limit on the age of one sort of market data, besides `maxDataAgeMs`. */
function ageOf(data: string) {
  return {
    unit: 'ms',
    tighter: 'less',
    initial: 0,
    bounds: [0, 86_400_000],
    fileBounds: [1, 3_600],
    isOptional: true,
    doc: `As maxDataAgeMs, for ${data} alone. 0: maxDataAgeMs alone.`,
    inFile: `the same for ${data} alone`,
    denies: { code: 'DATA_TOO_OLD' },
  } as const
}

/** All limits. Related ones stand together, and a sentence may lean on the row before. */
export const limitTable = {
  maxPositionSizeUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '5000',
    isExposure: true,
    doc: 'Largest position on one side of one market, open orders included, USD.',
    inFile: 'its own part of one side of one market, its open orders included',
    denies: {
      code: 'MAX_POSITION_SIZE',
      meaning:
        "this side, or the strategy's own part of it, has reached `maxPositionSizeUsd`, open orders included",
    },
  },
  maxPositionEquityBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 0,
    bounds: [0, 2_000_000],
    isOptional: true,
    isEquityShare: true,
    isExposure: true,
    doc: 'Largest position on one side of one market as a share of equity, basis points; 10000 is 100 % of equity. 0: no such limit.',
    inFile: 'the same as a share of equity; 10000 is 100 %',
    denies: {
      code: 'MAX_POSITION_EQUITY',
      meaning:
        "this side of the market, or the strategy's own part of it, has reached its share of the equity (`maxPositionEquityBps`)",
    },
  },
  maxMarketExposureUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '0',
    isOptional: true,
    isExposure: true,
    doc: 'Largest sum of both sides of one market, open increases included, USD. 0: no such limit.',
    inFile: 'its own parts of both sides of one market',
    denies: {
      code: 'MAX_MARKET_EXPOSURE',
      meaning:
        "both sides of the market together, or the strategy's own parts of them, have reached their limit",
    },
  },
  maxMarketExposureEquityBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 0,
    bounds: [0, 2_000_000],
    isOptional: true,
    isEquityShare: true,
    isExposure: true,
    doc: 'The same as a share of equity, basis points. 0: no such limit.',
    inFile: 'the same as a share of equity',
    denies: {
      code: 'MAX_MARKET_EQUITY',
      meaning:
        "both sides of the market together, or the strategy's own parts of them, have reached their share of the equity (`maxMarketExposureEquityBps`)",
    },
  },
  maxTotalExposureUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '20000',
    isOfNoMarket: true,
    isExposure: true,
    ofDesk: {
      code: 'DESK_EXPOSURE',
      meaning:
        "the account's budget of the desk's limit `desk.maxTotalExposureUsd` is spent; reductions continue. perpd deals the limit out again every two seconds; `perpd limits` shows budget and use",
      doc: 'Largest sum of all positions and open increases of all accounts together, USD. 0: no such limit.',
    },
    doc: 'Largest sum of all positions and open increases, USD.',
    inFile: 'all its own parts and open increases',
    denies: {
      code: 'MAX_TOTAL_EXPOSURE',
      meaning: "all positions and open orders, or the strategy's own, have reached `maxTotalExposureUsd`",
    },
  },
  maxExposureEquityBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 0,
    bounds: [0, 2_000_000],
    isOptional: true,
    isOfNoMarket: true,
    isEquityShare: true,
    isExposure: true,
    doc: 'Largest sum of all positions and open increases as a share of equity, basis points. 0: no such limit.',
    inFile: 'the same as a share of equity',
    denies: {
      code: 'MAX_EXPOSURE_EQUITY',
      meaning: "all positions and open orders, or the strategy's own, have reached their share of the equity",
    },
  },
  maxWishEquityBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 500_000,
    bounds: [0, 10_000_000],
    isOptional: true,
    doc: 'Largest size that an increase may request as a share of equity, basis points; 500000 is 50 times. perpd denies a larger one as a mistake instead of cutting it. 0: no such limit.',
    inFile:
      'perpd denies a size above this share of equity as a mistake instead of cutting it; 500000 is 50 times',
    denies: {
      code: 'WISH_ABOVE_EQUITY',
      meaning:
        'an increase requests a size or collateral of many times the equity (`risk.maxWishEquityBps`, `risk.maxWishCollateralEquityBps`): look for extra zeros, or raise the limit if it is intended',
    },
  },
  maxWishCollateralEquityBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 100_000,
    bounds: [0, 10_000_000],
    isOptional: true,
    doc: 'The same for the collateral that it needs at its leverage, basis points; 100000 is 10 times. 0: no such limit.',
    inFile: 'the same for the collateral that it needs at its leverage',
    denies: { code: 'WISH_ABOVE_EQUITY' },
  },
  maxDailyLossUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '1000',
    isOptional: true,
    isCounted: true,
    isLoss: true,
    ofDesk: {
      code: 'DESK_DAILY_LOSS',
      meaning:
        "the account's loss of this day (UTC) has reached its budget of the desk's limit `desk.maxDailyLossUsd`; reductions continue",
      doc: 'Sum of the losses of all accounts since 00:00 UTC up to which they increase, USD; the gain of one account does not offset the loss of another. 0: no such limit.',
    },
    doc: 'Loss of equity since 00:00 UTC at which the breaker `daily-loss` opens, USD. 0: no such limit.',
    inFile:
      "increases stop once this instance's books lost that much since 00:00 UTC: the realized loss, or the realized and the open loss together, whichever is larger",
    denies: {
      code: 'MAX_DAILY_LOSS',
      meaning:
        "the strategy's loss of this day (UTC), open loss included, or the realized loss on this market has reached its limit; reductions continue",
    },
  },
  maxDailyLossEquityBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 0,
    bounds: [0, 10_000],
    isOptional: true,
    isCounted: true,
    isLoss: true,
    isEquityShare: true,
    doc: "The same as a share of the day's first equity, basis points. 0: no such limit.",
    inFile: 'the same as a share of equity',
    denies: { code: 'MAX_DAILY_LOSS' },
  },
  maxOrderSizeUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '2500',
    doc: 'Largest single order, USD.',
    inFile: 'the largest order',
    denies: { code: 'MAX_ORDER_SIZE', meaning: '`maxOrderSizeUsd` leaves less than the smallest order' },
  },
  minOrderSizeUsd: {
    unit: 'usd',
    tighter: 'more',
    initial: '10',
    doc: 'Smallest order that perpd sends, USD.',
    inFile: 'the smallest order',
    denies: { code: 'ORDER_TOO_SMALL', meaning: 'the order is below the smallest one' },
  },
  maxUnboundedOrderUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '1000',
    doc: 'Largest stop entry or twap increase, USD: such orders have no signed price bound.',
    inFile: 'one stop entry or twap increase: such orders have no signed price bound',
    denies: {
      code: 'MAX_UNBOUNDED_ORDER',
      meaning:
        '`maxUnboundedOrderUsd` leaves less than the smallest order: stop entries and twap orders have no signed price bound',
    },
  },
  maxLeverageBps: {
    unit: 'times',
    tighter: 'less',
    initial: '10',
    doc: 'Highest leverage of an increase.',
    inFile: 'perpd reduces a larger leverage to this one',
    denies: {
      code: 'MAX_LEVERAGE',
      meaning:
        'at the allowed leverage the order is too small, or the remaining collateral could not carry the position',
    },
  },
  maxSlippageBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 100,
    bounds: [0, 5_000],
    fileBounds: [1, 1_000],
    doc: 'Widest slippage that perpd signs, basis points.',
    inFile: 'perpd denies orders with more; decreases and closes use this much instead',
    denies: {
      code: 'SLIPPAGE_TOO_WIDE',
      meaning:
        'the strategy requests more slippage than `maxSlippageBps`; an order that cannot add risk uses that much instead',
    },
  },
  maxOrdersPerHour: {
    unit: 'count',
    tighter: 'less',
    initial: 60,
    bounds: [1, 100_000],
    fileBounds: [1, 3_600],
    isCounted: true,
    ofDesk: {
      code: 'DESK_ORDERS_PER_HOUR',
      meaning:
        "the account's budget of the desk's limit `desk.maxOrdersPerHour` is spent; reductions continue",
      doc: 'Most orders of all accounts together in any hour, for increases: reductions count, and go on above it. 0: no such limit.',
    },
    doc: 'Most orders of the account in any hour.',
    inFile: 'orders in any hour; decreases and closes may use twice as many',
    denies: {
      code: 'ORDERS_PER_HOUR',
      meaning:
        "the hour's orders of the strategy, the market or the account are spent; closing may use twice as many",
    },
  },
  attemptsPerCause: {
    unit: 'count',
    tighter: 'less',
    initial: 12,
    bounds: [1, 10_000],
    doc: 'How often one cause may end the same decision of a strategy in 24 hours before perpd delays it; a reduction is then retried once an hour.',
    inFile: 'how often one cause may end the same decision in 24 hours before perpd delays it',
    denies: {
      code: 'RETRY_BUDGET',
      meaning:
        "the same cause ended the same decision too often in a day; perpd retries a reduction once an hour, an operator's once a minute. A fee above the limit does not count, nor, for a reduction, a moved price or a message that a host never relayed",
    },
  },
  executionFeesPerDay: {
    unit: 'native',
    tighter: 'less',
    initial: '0.2',
    isCounted: true,
    doc: 'Execution fees of any 24 hours after which increases wait, in whole native tokens: the fees that keepers took where a chain endpoint shows them, else the signed ones.',
    inFile: 'execution fees of this instance in any 24 hours after which increases wait',
    denies: {
      code: 'FEES_PER_DAY',
      meaning:
        "the day's execution or relay fees of the strategy, the market or the account are spent; reductions continue",
    },
  },
  relayFeesPerDayUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '100',
    isCounted: true,
    doc: "Relay fees of any 24 hours after which increases wait, USD: signed execution fees and the relay's gas.",
    inFile: 'the same for relay fees',
    denies: { code: 'FEES_PER_DAY' },
  },
  reductionFeesPerDayUsd: {
    unit: 'usd',
    tighter: 'less',
    initial: '200',
    isOfNoMarket: true,
    doc: "The same for strategies' reductions, cancels and edits, USD; at the limit only an operator can reduce (perpd kill, perpd orders unwind).",
    inFile:
      'relay fees of its reductions, cancels and edits in 24 hours; at the limit only operators can reduce',
    denies: {
      code: 'REDUCTION_FEES_PER_DAY',
      meaning:
        "the fees of strategies' reductions reached `risk.reductionFeesPerDayUsd`; `perpd kill` and `perpd orders unwind` still reduce",
    },
  },
  maxCapacityShareBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 10_000,
    bounds: [1, 10_000],
    doc: "Largest part of the venue's capacity that one order takes, basis points of it.",
    inFile: "the most of the venue's capacity that one order takes",
    denies: {
      code: 'MAX_CAPACITY_SHARE',
      meaning: "one order's part of the venue's capacity is below the smallest order",
    },
  },
  capacityHeadroomBps: {
    unit: 'bps',
    tighter: 'more',
    initial: 1_000,
    bounds: [0, 10_000],
    doc: "Share of the venue's capacity that perpd leaves unused, basis points of it.",
    inFile: "share of the venue's capacity left unused",
    denies: { code: 'NO_CAPACITY', meaning: 'the venue has no capacity on this side' },
  },
  minLiquidationDistanceBps: {
    unit: 'bps',
    tighter: 'more',
    initial: 300,
    bounds: [0, 9_000],
    isOptional: true,
    doc: 'Least distance of a position from its liquidation price after an increase or a withdrawal of collateral, basis points of the price. 0: no such limit.',
    inFile:
      'no increase and no withdrawal of collateral may bring a position nearer to its liquidation price',
    denies: {
      code: 'LIQUIDATION_TOO_NEAR',
      meaning:
        'the position is, or would be, nearer to its liquidation than `risk.minLiquidationDistanceBps`',
    },
  },
  maxDataAgeMs: {
    unit: 'ms',
    tighter: 'less',
    initial: 15_000,
    bounds: [500, 86_400_000],
    fileBounds: [1, 3_600],
    doc: 'Greatest age of the market data for an increase, ms.',
    inFile: 'increases wait when data is older; reductions accept data four times as old',
    denies: {
      code: 'DATA_TOO_OLD',
      meaning:
        "the data is older than `risk.maxDataAgeMs`; a reduction uses the venue's own mark price where the oracle's are too old",
    },
  },
  maxTickerAgeMs: ageOf('tickers'),
  maxCapacityAgeMs: ageOf('trading capacity'),
  maxOracleAgeMs: ageOf('oracle prices'),
  maxAccountAgeMs: ageOf('positions and orders'),
  maxPriceDivergenceBps: {
    unit: 'bps',
    tighter: 'less',
    initial: 100,
    bounds: [0, 10_000],
    fileBounds: [1, 5_000],
    doc: "Widest gap between the venue's mark price and the oracle's price for an increase, basis points.",
    inFile: 'increases wait while the two price sources are further apart',
    denies: {
      code: 'PRICE_DIVERGENCE',
      meaning: 'the venue and the oracle disagree on the price; check both before you trade',
    },
  },
  maxClockSkewMs: {
    unit: 'ms',
    tighter: 'less',
    initial: 30_000,
    bounds: [100, 600_000],
    isOfNoMarket: true,
    doc: "Largest difference between this machine's clock and the venue's for an increase, ms.",
    inFile: "increases wait while this machine's clock and the venue's differ by more",
    denies: {
      code: 'CLOCK_SKEW',
      meaning:
        "this machine's clock and the venue's differ by more than `risk.maxClockSkewMs`; set the clock if `perpd doctor` finds it wrong, else make sure that two hosts respond ([operating.md](../operating.md#when-clocks-differ))",
    },
  },
  reduceAgainAfterMs: {
    unit: 'ms',
    tighter: 'more',
    initial: 600_000,
    bounds: [1_000, 86_400_000],
    doc: 'How long an unresolved reduction blocks another one of the same position, ms.',
    inFile: 'wait before another reduction when the fate of the last one is unknown',
    denies: {
      code: 'REDUCE_IN_FLIGHT',
      meaning: 'another reduction of this position is in flight; resting exits block nothing',
    },
  },
} as const satisfies Readonly<Record<string, LimitRow>>
