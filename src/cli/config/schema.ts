/**
 * Every setting there is: its format, default and meaning. `perpd config`, docs/configuration.md, the flags and the
 * environment variables are all derived from this one table, which is a convict schema.
 */
import convict from 'convict'
import * as as from './formats.ts'

/** One setting, as convict holds it, with the format that reads it. */
export interface Setting {
  readonly doc: string
  readonly default: as.Value
  readonly format: (value: unknown) => void
  readonly reads: as.Format
  /** True when the value may carry a secret: it is never printed whole. */
  readonly sensitive: boolean
}

function setting(reads: as.Format, initial: as.Value, doc: string, sensitive = false): Setting {
  const format = (value: unknown): void => {
    if (reads.read(value) === undefined) throw new Error(`expected ${reads.expected}`)
  }
  return { doc, default: initial, format, reads, sensitive }
}

const bps = (most: number): as.Format => as.integer(0, most)
const ms = (least: number, most = 86_400_000): as.Format => as.integer(least, most)
const seconds = (least: number, most: number): as.Format => as.integer(least, most)

/** The schema, section by section. `{profile}` in a path stands for the profile's name. */
export const schema = {
  profile: setting(
    as.name,
    'paper',
    'Which profile file to start from. `paper` trades play money on a venue inside the daemon; the others trade real money.',
  ),
  venue: {
    chain: setting(as.choice(['arbitrum', 'avalanche', 'megaeth']), 'arbitrum', 'Chain the venue runs on.'),
    apiHosts: setting(
      as.hostUrls,
      [],
      "Base addresses of the application API, peers of equal rank, with the version segment. Empty: the chain's own; in the paper profile the embedded venue.",
    ),
    oracleHosts: setting(
      as.hostUrls,
      [],
      "Base addresses of the oracle price service, primary first. Empty: the chain's own; in the paper profile the embedded venue.",
    ),
  },
  rpc: {
    http: setting(
      as.rpcUrls,
      [],
      "The chain's JSON-RPC endpoints, whose data proves how orders end: one or, better, two of different providers. Only scheme and host are ever shown, because keys stand in such addresses. Empty: in the paper profile the embedded venue's own; else API-only mode.",
      true,
    ),
    ws: setting(
      as.socketUrls,
      [],
      'The same over WebSocket: new blocks are pushed, so that orders are looked at as soon as one comes. Read from only when rpc.http is empty.',
      true,
    ),
    finality: setting(
      as.finality,
      'auto',
      'When a block counts as final. `auto`: safe on Arbitrum, 3 blocks behind latest on Avalanche, finalized on MegaETH.',
    ),
    timeoutMs: setting(ms(100, 120_000), 5_000, 'Longest wait for one answer of an endpoint, ms.'),
    maxLogBlocks: setting(
      as.integer(64, 1_000_000),
      10_000,
      'Most blocks that one question for events spans; narrower questions are tried when an endpoint refuses.',
    ),
    routerCodeHash: setting(
      as.hash,
      '',
      'Hash (keccak256) that the code of the contract must have that signatures are for, as the endpoints of rpc.http show it when perpd starts; it does not start on another. Empty: that there is code, the same at all of them; the log tells its hash.',
    ),
  },
  account: {
    address: setting(
      as.address,
      '',
      'Address that the key must have; perpd does not start with another. A remote signer needs it. Empty: whatever the key says.',
    ),
    keystore: setting(
      as.text,
      '',
      'Encrypted file with the key (Web3 Secret Storage version 3), as `perpd keys new` makes it. Refused in the paper profile, which makes its own key; so are the other kinds of key.',
    ),
    passwordFd: setting(
      as.integer(-1, 1_023),
      -1,
      'File descriptor that the password of the keystore is read from. -1: the systemd credential `perpd-password` when there is one, else a question at the terminal.',
    ),
    remoteSigner: setting(
      as.signerUrl,
      '',
      'Address of a signer that holds the key, JSON-RPC as Web3Signer speaks it (eth_accounts, eth_signTypedData). What it signs is verified here before, its signature after.',
    ),
    remoteSignerTokenFile: setting(
      as.text,
      '',
      'File with a token that is sent to the remote signer as `authorization: Bearer ...`; guarded as a key file.',
    ),
    remoteSignerTimeoutMs: setting(ms(50, 60_000), 5_000, 'Longest wait for a remote signature, ms.'),
    keyFile: setting(
      as.text,
      '',
      'File with the bare key, for development; needs account.acceptRawKey. The variable PERPD_PRIVATE_KEY may hold the key instead.',
    ),
    acceptRawKey: setting(
      as.flag,
      false,
      'Accept a key that no password guards, in account.keyFile or PERPD_PRIVATE_KEY. For trials with small amounts.',
    ),
    owner: setting(
      as.address,
      '',
      'Account to trade when the key is a delegated one that its owner approved (`perpd subaccount`), as is recommended for real money: the key can then only make orders of that account. Empty: the key is the own key of the account.',
    ),
    approvalFile: setting(
      as.path,
      './var/{profile}/approval.json',
      "The owner's signed approval of the delegated key, as `perpd subaccount approve` writes it; read again while the daemon runs.",
    ),
    adoptInitial: setting(
      as.flag,
      false,
      'Adopt what the account held and what rested there before perpd first looked at it. Off: it is shown once, and increases on its market wait for `perpd discrepancies adopt --all --before START`. What happens later always waits.',
    ),
    warnActions: setting(
      as.integer(0, 1_000_000),
      100,
      'Actions left of the approval, beyond what closing needs, from which on every hour is warned.',
    ),
    warnHours: setting(
      as.integer(0, 8_760),
      48,
      'Hours before the end of the approval from which on every hour is warned.',
    ),
    reserveActions: setting(
      as.integer(0, 1_000_000),
      20,
      'Actions of the approval that no increase takes, beyond what closing everything needs; there the breaker `subaccount` opens.',
    ),
    reserveMinutes: setting(
      as.integer(0, 525_600),
      60,
      'Minutes before the end of the approval at which the breaker `subaccount` opens: only reductions are made.',
    ),
    lane: setting(
      as.choice(['order-chain', 'relay']),
      'order-chain',
      'How signed orders are handed in. `order-chain`: to the host that prepared them, which also chooses deadline and nonce. `relay`: as calldata of our own with our own short deadline, so that an unknown closes in minutes; after a lost answer only the chain tells.',
    ),
  },
  journal: {
    path: setting(
      as.path,
      './var/{profile}/journal.db',
      'File of the journal: what must survive the process.',
    ),
    headPath: setting(
      as.text,
      '',
      "File of the journal's high-water mark, which tells of lost records. Empty: beside the journal. On another volume it also tells of a restored backup of the whole directory.",
    ),
    maxMiB: setting(
      as.integer(1, 1_048_576),
      4096,
      'Largest size of the journal file, MiB; at this size the daemon stops instead of filling the disk.',
    ),
  },
  strategies: {
    paths: setting(
      as.paths,
      ['./strategies'],
      'Strategy files and directories of them; one YAML file is one running strategy.',
    ),
    decideTimeoutMs: setting(
      ms(10, 600_000),
      5_000,
      'Longest turn of a kind of your own, ms; a thread that takes longer is ended and started anew.',
    ),
    memoryMiB: setting(
      as.integer(16, 65_536),
      128,
      'Most memory of the JavaScript objects of one strategy of your own kind, MiB; a thread that takes more is ended. What Node keeps outside of them, such as buffers, is not counted.',
    ),
    pauseAfterFailures: setting(
      as.integer(1, 1_000),
      5,
      'Failures in a row after which a strategy of your own kind is not asked for a minute, and twice as long after each further one, up to 15 minutes.',
    ),
  },
  risk: {
    maxPositionSizeUsd: setting(
      as.dollars,
      '5000',
      'Largest position on one side of one market, open orders included, USD.',
    ),
    maxTotalExposureUsd: setting(
      as.dollars,
      '20000',
      'Largest sum of all positions and open increases, USD.',
    ),
    maxOrderSizeUsd: setting(as.dollars, '2500', 'Largest single order, USD.'),
    minOrderSizeUsd: setting(as.dollars, '10', 'Smallest order worth sending, USD.'),
    maxUnboundedOrderUsd: setting(
      as.dollars,
      '1000',
      'Largest stop-market or twap increase, USD: such orders are signed without a bound on their price.',
    ),
    maxPositionEquityBps: setting(
      as.integer(0, 2_000_000),
      0,
      'Largest position on one side of one market as a share of equity, basis points; 10000 is once the equity. 0: no such limit.',
    ),
    maxMarketExposureUsd: setting(
      as.dollarsOrNone,
      '0',
      'Largest sum of both sides of one market, open increases included, USD. 0: no such limit.',
    ),
    maxMarketExposureEquityBps: setting(
      as.integer(0, 2_000_000),
      0,
      'The same as a share of equity, basis points. 0: no such limit.',
    ),
    maxExposureEquityBps: setting(
      as.integer(0, 2_000_000),
      0,
      'Largest sum of all positions and open increases as a share of equity, basis points. 0: no such limit.',
    ),
    maxWishEquityBps: setting(
      as.integer(0, 10_000_000),
      500_000,
      'Largest size that an increase may ask for as a share of equity, basis points; 500000 is 50 times. A larger one is taken for a mistake and denied, not cut. 0: no such limit.',
    ),
    maxWishCollateralEquityBps: setting(
      as.integer(0, 10_000_000),
      100_000,
      'The same of the collateral that it brings at its leverage, basis points; 100000 is 10 times. 0: no such limit.',
    ),
    maxCapacityShareBps: setting(
      as.integer(1, 10_000),
      10_000,
      "Largest part of the venue's capacity that one order takes, basis points of it.",
    ),
    minLiquidationDistanceBps: setting(
      bps(9_000),
      300,
      'Least way from the price to the liquidation of what an increase or a withdrawal of collateral leaves, basis points of the price. 0: no such limit.',
    ),
    maxDailyLossUsd: setting(
      as.dollarsOrNone,
      '1000',
      'Largest loss of equity since 00:00 UTC, USD; at it the breaker `daily-loss` opens. 0: no such limit.',
    ),
    maxDailyLossEquityBps: setting(
      bps(10_000),
      0,
      "The same as a share of the day's first equity, basis points. 0: no such limit.",
    ),
    maxTickerAgeMs: setting(ms(0), 0, 'As maxDataAgeMs, for tickers alone. 0: maxDataAgeMs alone.'),
    maxCapacityAgeMs: setting(
      ms(0),
      0,
      'As maxDataAgeMs, for trading capacity alone. 0: maxDataAgeMs alone.',
    ),
    maxOracleAgeMs: setting(ms(0), 0, 'As maxDataAgeMs, for oracle prices alone. 0: maxDataAgeMs alone.'),
    maxAccountAgeMs: setting(
      ms(0),
      0,
      'As maxDataAgeMs, for positions and orders alone. 0: maxDataAgeMs alone.',
    ),
    maxClockSkewMs: setting(
      ms(100, 600_000),
      30_000,
      "Farthest that this machine's clock and the venue's may be apart for an increase, ms.",
    ),
    markets: setting(
      as.marketLimits,
      [],
      'Limits of single markets on top of the others, MARKET: LIMIT=VALUE LIMIT=VALUE, as ETH/USD [WETH-USDC]: maxPositionSizeUsd=3000 maxLeverage=5. The tighter one applies.',
    ),
    maxLeverage: setting(
      as.decimal('a leverage from 1 to 200, as 5 or "2.5"', 4, '1', '200'),
      '10',
      'Highest leverage of an increase.',
    ),
    maxSlippageBps: setting(bps(5_000), 100, 'Widest slippage that may be signed, basis points.'),
    maxOrdersPerHour: setting(as.integer(1, 100_000), 60, 'Most orders of the account in any hour.'),
    attemptsPerCause: setting(
      as.integer(1, 10_000),
      12,
      'How often one cause may end the same decision of a strategy in 24 hours before it waits; a reduction is then tried once an hour.',
    ),
    executionFeesPerDay: setting(
      as.decimal('an amount of the native token, as "0.2"', 18, '0', '1000000'),
      '0.2',
      'Execution fees of any 24 hours after which increases wait, in whole native tokens: what keepers kept where a chain endpoint shows it, else what was signed.',
    ),
    relayFeesPerDayUsd: setting(
      as.dollars,
      '100',
      "Whole fees through the relay of any 24 hours after which increases wait, USD: execution fees and the relay's gas as they were signed.",
    ),
    reductionFeesPerDayUsd: setting(
      as.dollars,
      '200',
      "The same of strategies' own reductions, cancels and edits, USD: at the limit only an operator reduces (perpd kill, perpd orders unwind).",
    ),
    capacityHeadroomBps: setting(
      bps(10_000),
      1_000,
      "Share of the venue's capacity that is left untouched, basis points of it.",
    ),
    maxDataAgeMs: setting(ms(500), 15_000, 'Oldest market data an increase may be sized on, ms.'),
    maxMarketValuesAgeMs: setting(
      ms(10_000),
      30_000,
      "Oldest refresh of a market's values by the venue that an increase may stand on, ms. The venue pulls them every 5 s and marks them stale at 15 s.",
    ),
    maxPriceDivergenceBps: setting(
      bps(10_000),
      100,
      "Widest gap between the venue's mark price and the oracle's price that an increase may be sized on, basis points.",
    ),
    reduceAgainAfterMs: setting(
      ms(1_000),
      600_000,
      'How long an unresolved reduction keeps another one of the same position away, ms.',
    ),
  },
  breakers: {
    maxDrawdownBps: setting(
      bps(10_000),
      2_000,
      'Fall of the equity below its peak at which the breaker `drawdown` opens, basis points of the peak. 0: off.',
    ),
    rejectsInRow: setting(
      as.integer(0, 1_000),
      10,
      'Orders of one strategy in a row that came to nothing, at which its breaker `rejects` opens. 0: off.',
    ),
    poisonedPerDay: setting(
      as.integer(0, 1_000),
      3,
      'Payload mismatches in 24 hours at which the breaker `poison` opens. 0: off.',
    ),
    unknownSeconds: setting(
      seconds(0, 604_800),
      1_800,
      'Age of the oldest order whose fate is not proven, at which the breaker `unknowns` opens. 0: off.',
    ),
    staleSeconds: setting(
      seconds(0, 86_400),
      120,
      'How long the account may be unreadable until the breaker `stale-data` opens. 0: off.',
    ),
    openFindings: setting(
      as.integer(0, 1_000),
      3,
      'Things on the account that pause a market and nobody settled, at which the breaker `drift` opens for all. 0: off.',
    ),
    sets: setting(
      as.breakerStates,
      [],
      'What breakers set where it is not `reducing`, BREAKER=halted. Halted makes no orders at all, exits neither.',
    ),
  },
  execution: {
    intentExpirySeconds: setting(
      seconds(5, 3_600),
      60,
      'How long after its decision an order may still be prepared and signed.',
    ),
    statusPollMs: setting(ms(50, 60_000), 500, 'First pause between two status questions of one order, ms.'),
    statusPollMaxMs: setting(
      ms(50, 600_000),
      10_000,
      'Longest pause between two status questions of one order, ms.',
    ),
    drainSeconds: setting(
      seconds(0, 3_600),
      10,
      'How long a stopping daemon follows its open orders before it leaves them to the next start.',
    ),
    deadlineMarginSeconds: setting(
      seconds(1, 600),
      10,
      "How far the host's clock must be past a signed deadline before its statement counts.",
    ),
    relayDeadlineSeconds: setting(
      seconds(90, 180),
      120,
      'Deadline that is signed in the relay lane, seconds from then.',
    ),
  },
  signing: {
    maxDeadlineSeconds: setting(
      seconds(30, 86_400),
      3_700,
      'Farthest deadline that is signed, seconds from now.',
    ),
    minDeadlineSeconds: setting(seconds(1, 3_600), 20, 'Nearest deadline that is signed, seconds from now.'),
    exposureCapUsd: setting(
      as.dollarsOrNone,
      '0',
      'Most exposure that the key signs for in signing.exposureWindowSeconds, USD, whatever asks; reductions add none. Changed by a restart alone. 0: three times risk.maxTotalExposureUsd, so that all may be left and built up anew twice in that time.',
    ),
    exposureWindowSeconds: setting(
      seconds(60, 86_400),
      3_600,
      'Time that signing.exposureCapUsd holds for, seconds.',
    ),
    maxExecutionFee: setting(
      as.decimal('an amount of the native token, as "0.01"', 18, '0', '1000000'),
      '0.01',
      'Highest execution fee of an order that is signed, in whole native tokens. A close waits for nothing but this, so leave a margin for a gas spike: what a keeper does not use comes back.',
    ),
    maxRelayFeeUsd: setting(
      as.dollars,
      '5',
      "Highest fee through the relay that is signed for each order of a message that adds risk, USD: it holds the execution fee and the relay's gas. What takes risk away may cost more: signing.maxExecutionFee at our own price of the native token, and half as much again for the relay's gas (at 10000 USD an ETH or 200 USD an AVAX until a price was read).",
    ),
    relayFeeUsd: setting(
      as.dollars,
      '1',
      'Relay fee of a message of our own that no host prepared, for each order that it creates, USD; more where the gas price of a chain endpoint needs it. What the relay does not use comes back as wrapped native token.',
    ),
    priceToleranceBps: setting(
      bps(5_000),
      100,
      "How far the signed acceptable price of what adds risk may lie beyond our own oracle's price and the slippage asked, basis points.",
    ),
    reducingPriceToleranceBps: setting(
      bps(5_000),
      200,
      'The same of what takes risk away; never less than signing.priceToleranceBps. A refused close is worse than a bad price.',
    ),
    maxPriceImpactBps: setting(
      bps(5_000),
      150,
      "How much of our own estimate of an order's price impact its acceptable price may leave on top of the tolerance where it adds risk, basis points; a limit order asks for as much of it. The estimate is made from what the API says of the market, so this is the most that a host wins that lies. 0: none of it.",
    ),
    reducingMaxPriceImpactBps: setting(
      bps(5_000),
      1_000,
      'The same of what takes risk away; never less than signing.maxPriceImpactBps. In a thin market a large position has no smaller impact to leave with.',
    ),
    priceImpactPerDayUsd: setting(
      as.dollarsOrNone,
      '100',
      "What both together may leave in a day (UTC), of all strategies' orders as they were accepted, USD: half of it is for what takes risk away alone. Past it prices have slippage and tolerance, and only an operator's way out (perpd kill, perpd orders unwind) has the whole width. So it is the most that hosts win in a day that lie about a market's impact. 0: no such limit.",
    ),
    referralCode: setting(
      as.referralCode,
      '',
      'Referral code of the account, as bytes or as its text: sent with every order, and the only one but none that is signed. A code costs nothing and may give a discount. Empty: none.',
    ),
    usualExecutionFee: setting(
      as.decimal('an amount of the native token, as "0.0003"', 18, '0', '1000000'),
      '0',
      'What an execution fee is taken for until orders of its kind have landed, and the least that it is taken for after, in whole native tokens. 0: 0.0002 on Arbitrum, 0.05 on Avalanche, 0.00002 on MegaETH.',
    ),
    usualRelayFeeUsd: setting(
      as.dollarsOrNone,
      '0',
      'The same of the whole fee through the relay for each order of a message, USD. 0: 1 on Arbitrum and Avalanche, 0.1 on MegaETH.',
    ),
    feeFactor: setting(
      as.integer(1, 100),
      5,
      "How many times our own estimate the fees of an order that adds risk may be. With a chain endpoint the estimate is the protocol's formula at the gas price of the moment, and no more than 3 times it is signed. Without one it is what the last 15 orders of its kind cost that landed, the middle one, and no less than the usual fee; what was asked and not shown to be paid counts for twice the usual fee at most. What takes risk away is bounded by the highest fees alone, so that a gas spike holds no close back; so are messages of your own.",
    ),
    warnings: setting(
      as.warningActions,
      ['INSUFFICIENT_LIQUIDITY=shrink', 'TRADING_CAPACITY_UNAVAILABLE=drop'],
      "What the venue's warnings before signing do to an order that adds risk: `sign` it, `shrink` it to the capacity that is read anew (increases; dropped where none is left), or `drop` it. `INSUFFICIENT_LIQUIDITY`: a waiting order does not fit now and may never fill whole, so it is made to fit. `TRADING_CAPACITY_UNAVAILABLE`: the venue itself does not know the room, so what was sized on it stands on nothing. A `CODE.REASON`, as `TRADING_CAPACITY_UNAVAILABLE.COLLATERAL_SWAP=sign`, goes before its code. A code that is not listed drops: nobody has thought about it yet. A strategy file may be stricter (`warnings`).",
    ),
    warningsDropReductions: setting(
      as.warningCodes,
      [],
      'Codes for which a decrease or a payment of collateral into a position is dropped too. None by default: less risk is never worse than what is warned of. Closes and cancels are signed whatever stands here, and a kill with them.',
    ),
  },
  evidence: {
    source: setting(
      as.choice(['auto', 'chain', 'api']),
      'auto',
      'What closes orders. `auto`: the chain when there are endpoints, else the APIs alone. `chain`: no start without endpoints. `api`: endpoints are not used.',
    ),
    trustVenue: setting(
      as.flag,
      false,
      "Let the venue's own statement close an order as dead in API-only mode. Only the paper profile may.",
    ),
  },
  api: {
    timeoutMs: setting(ms(100, 120_000), 10_000, 'Longest wait for one answer, ms.'),
    attempts: setting(
      as.integer(1, 20),
      4,
      'Most attempts of one read over all hosts. A submit is sent once, whatever this says.',
    ),
    concurrencyPerHost: setting(as.integer(1, 256), 8, 'Most requests in flight at one host.'),
    requestsPerSecondPerHost: setting(as.integer(1, 10_000), 5, 'Most requests a second at one host.'),
    maxPriceAgeMs: setting(
      ms(1_000),
      15_000,
      'Greatest age of the newest price of an oracle host, ms. With older prices its fallbacks are used.',
    ),
  },
  paper: {
    chains: setting(
      as.choices(['arbitrum', 'avalanche', 'megaeth']),
      [],
      'Chains the paper venue serves, each with its own state, with prices in step. venue.chain is always among them. Empty: venue.chain alone.',
    ),
    seed: setting(as.integer(0, 2_147_483_647), 1, "Seed of the embedded venue's prices."),
    port: setting(as.integer(0, 65_535), 0, 'Port of the embedded venue; 0 takes a free one.'),
    keeperDelayMs: setting(
      ms(0, 600_000),
      1_500,
      'How long the venue takes from accepting an order to executing it, ms.',
    ),
    keeperJitterMs: setting(ms(0, 600_000), 300, "Largest random part added to the keeper's delay, ms."),
    relayDelayMs: setting(
      ms(0, 600_000),
      500,
      'How long the venue takes from accepting a signed batch until its transaction is mined, ms.',
    ),
    blockTimeMs: setting(
      ms(0, 600_000),
      0,
      "Time between the blocks of the chain, ms. 0: the chain's own pace.",
    ),
    safeLagBlocks: setting(as.integer(0, 1_000_000), 4, 'Blocks that `safe` is behind `latest`.'),
    finalizedLagBlocks: setting(as.integer(0, 1_000_000), 100, 'Blocks that `finalized` is behind `latest`.'),
    orderDeadlineSeconds: setting(
      seconds(5, 86_400),
      300,
      'Deadline the venue gives a prepared order, seconds from then.',
    ),
    stateFile: setting(
      as.path,
      './var/{profile}/venue.json',
      'Where the embedded venue keeps positions and balances between starts.',
    ),
    keyFile: setting(
      as.path,
      './var/{profile}/account.key',
      'Where the paper profile keeps the throwaway key it makes for itself.',
    ),
    ownerKeyFile: setting(
      as.path,
      './var/{profile}/owner.key',
      "Where the paper profile keeps the throwaway key of a delegated key's owner.",
    ),
    startBalances: setting(
      as.tokenAmounts,
      ['USDC=100000', 'ETH=10'],
      'What a new account starts with, SYMBOL=amount in whole tokens. USDC means the stable token of a chain that has no USDC.',
    ),
    faults: setting(
      as.text,
      '',
      'Faults that the venue has from the start: JSON of what its control address takes, one or a list, switches and rules of the wire mixed. Empty: none.',
    ),
    scenario: setting(
      as.text,
      '',
      'YAML or JSON file of faults that the venue plays at their times; docs/paper-venue.md shows one. Empty: none.',
    ),
    replayFile: setting(
      as.text,
      '',
      'CSV or JSON file of candles that the prices follow from the start of the venue. Empty: seeded prices.',
    ),
    speed: setting(as.integer(1, 100_000), 1, 'How many seconds of the candle file pass in one second.'),
    startAllowance: setting(
      as.flag,
      true,
      'Whether a new account has let the router take its tokens. If not, every order reverts until the control address allows it.',
    ),
    gasPriceGwei: setting(
      as.chainPrices,
      [],
      "Gas price that a chain's price walks around, CHAIN=gwei. A chain that is not named has its usual price.",
    ),
    exitShape: setting(
      as.choice(['sdk', 'sdk-keep', 'zero', 'max']),
      'sdk',
      "How exits that come with an increase are made. `sdk`: a whole exit carries all collateral, a part none, as the venue's library has it. `sdk-keep`: a part carries its share too. `zero`: none carries any. `max`: as `sdk`, and an exit of the whole position has the largest uint256 as its size.",
    ),
    exitsReordered: setting(as.flag, false, 'Whether exits come in another order than they were asked for.'),
    slippageOnLimits: setting(
      as.flag,
      false,
      'Whether slippage is put on top of the price of limit and take-profit orders.',
    ),
    collateralOutMinOutput: setting(
      as.choice(['usd', 'zero']),
      'usd',
      'Least output of a withdrawal of collateral. `usd`: its worth less slippage, in US dollars. `zero`: none.',
    ),
    dividesAnyPrice: setting(
      as.flag,
      false,
      "Whether an edit writes any price divided by the index token's decimals.",
    ),
    topsUpFees: setting(
      as.flag,
      false,
      "Whether an edit adds unasked what an order's execution fee lacks at today's gas price.",
    ),
    strictPrepare: setting(
      as.flag,
      true,
      'Whether the venue refuses `autoCancel` in prepare, and `gasPaymentToken` in edits and cancels.',
    ),
    referralCode: setting(
      as.text,
      '',
      'Referral code of orders whose request names none, as the venue gives one to an account that has it. Empty: none.',
    ),
    positionKeyForm: setting(
      as.choice(['any', 'row', 'contract']),
      'any',
      'By which key a change of collateral names its position: the one of its row, the contract key, or any of them.',
    ),
    startGmxAccount: setting(
      as.decimal(
        'an amount of whole tokens with 6 decimals at most, as 1000 or "0.5"',
        6,
        '0',
        '1000000000000',
      ),
      '1000',
      "What a new address holds in its GMX account, whole units of the chain's stable token.",
    ),
    poolShareBps: setting(
      as.integer(1, 10_000),
      3_000,
      'Part of the allowed maximum that the pools hold at the beginning, bps.',
    ),
    openInterestShareBps: setting(
      as.integer(0, 10_000),
      1_000,
      'Part of the allowed maximum that the open interest is at the beginning, bps.',
    ),
    jitPoolShareBps: setting(
      as.integer(0, 100_000),
      1_500,
      'What vaults can add just in time to what a pool may reserve, bps of the latter, on average. 0: no JIT liquidity.',
    ),
    liquidityProviders: setting(
      as.integer(0, 1_000),
      24,
      'Simulated wallets that hold pool tokens and earn fees.',
    ),
    poolShares: setting(
      as.walletShares,
      [],
      'Wallets that hold a part of a pool since the start, in millionths of the pool.',
    ),
    earningsWarmUpSeconds: setting(
      seconds(0, 86_400),
      0,
      'How long the earnings answer 503 after a start, seconds.',
    ),
    weeklyIncentivesUsd: setting(
      as.integer(0, 1_000_000_000),
      12_000,
      'Dollars a week that the deepest pools get on top of their fees.',
    ),
    whitelists: setting(as.walletMarkets, [], 'Pools that are open to the deposits of a wallet.'),
    boostAprBps: setting(
      as.integer(0, 1_000_000),
      1_200,
      'Launch boost of the stable coin USDG, bps a year; it falls by half every 30 days.',
    ),
    buybackShareBps: setting(
      as.integer(0, 10_000),
      3_000,
      "Part of the protocol's revenue that buys back the platform token, bps.",
    ),
    traders: setting(
      as.integer(0, 2_000),
      36,
      'How many other traders trade on the venue, so that open interest, funding and capacity move.',
    ),
    marketHours: setting(
      as.marketHours,
      [],
      'Markets that open and close, MARKET=HH:MM-HH:MM in UTC, Monday to Friday. All others are always open.',
    ),
  },
  control: {
    host: setting(as.listenHost, '127.0.0.1', 'Address to serve status, health and metrics on.'),
    port: setting(
      as.integer(0, 65_535),
      9_464,
      'Port to serve status, health and metrics on; 0 takes a free one.',
    ),
    tokenFile: setting(
      as.path,
      './var/{profile}/control.token',
      'File of the token that commands need (halt, kill, limits); made with mode 0600 when there is none. The token that reading needs stands beside it, in the same name with .read at its end, and with .address where the daemon serves.',
    ),
    metricsAccess: setting(
      as.choice(['auto', 'open', 'token']),
      'auto',
      'Who may read /metrics: `open` everyone who reaches the port, `token` who has a token, `auto`: open when control.host is this machine alone.',
    ),
    healthAccess: setting(
      as.choice(['open', 'token']),
      'open',
      'Who may read /livez and /readyz: everyone who reaches the port, or who has a token.',
    ),
    requestsPerSecond: setting(
      as.integer(1, 10_000),
      50,
      'Most requests a second with a token, and as many without one that are refused anyway; the rest are answered 429.',
    ),
    hostNames: setting(
      as.hostNames,
      [],
      'Further names by which this port may be addressed, as perpd in a container network; other names are refused, so that no web page can reach it. Addresses and localhost always may.',
    ),
  },
  log: {
    level: setting(
      as.choice(['debug', 'info', 'warn', 'error']),
      'info',
      'Least important line that is written.',
    ),
    format: setting(
      as.choice(['auto', 'pretty', 'json']),
      'auto',
      '`pretty` for people, `json` for machines, `auto`: pretty on a terminal, else json.',
    ),
    heartbeatSeconds: setting(
      seconds(0, 86_400),
      60,
      'How often a daemon that has nothing else to tell says that it lives, seconds; 0 never.',
    ),
  },
}

type RawOf<T> = { readonly [K in keyof T]: T[K] extends Setting ? as.Value : RawOf<T[K]> }

/** All values in their normal form, nested as the schema is. */
export type RawConfig = RawOf<typeof schema>

/** One setting with its dotted name. */
export interface NamedSetting extends Setting {
  /** `risk.maxOrderSizeUsd`. */
  readonly key: string
}

/** All settings in the schema's order. */
export const settings: readonly NamedSetting[] = Object.entries(schema).flatMap(([section, entry]) =>
  isSetting(entry)
    ? [{ key: section, ...entry }]
    : Object.entries(entry as Record<string, Setting>).map(([key, leaf]) => ({
        key: `${section}.${key}`,
        ...leaf,
      })),
)

function isSetting(entry: object): entry is Setting {
  return 'reads' in entry
}

const byKey: ReadonlyMap<string, NamedSetting> = new Map(settings.map((entry) => [entry.key, entry]))

/** The setting of that dotted name, or undefined. */
export function settingNamed(key: string): NamedSetting | undefined {
  return byKey.get(key)
}

/** The environment variable of a setting: `risk.maxOrderSizeUsd` is `PERPD__RISK__MAX_ORDER_SIZE_USD`. */
export function variableOf(key: string): string {
  const words = key.split('.').map((part) => part.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase())
  return ['PERPD', ...words].join('__')
}

/** A convict over the schema that reads neither the process's environment nor its arguments. */
export function emptyConfig(): convict.Config<RawConfig> {
  return convict<RawConfig>(schema as unknown as convict.Schema<RawConfig>, { env: {}, args: [] })
}
