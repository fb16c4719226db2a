/** Settings of the paper venue, as its configuration and the venue itself read them: one row each. */
import { choice, decimal, flag, integer, list, ms, type Section, seconds, setting, text } from './setting.ts'

/** Settings under `paper` that the venue takes as they are. */
export const simulated = {
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
  safeLagBlocks: setting(integer(0, 1_000_000), 4, 'Blocks that `safe` is behind `latest`.'),
  finalizedLagBlocks: setting(integer(0, 1_000_000), 100, 'Blocks that `finalized` is behind `latest`.'),
  orderDeadlineSeconds: setting(
    seconds(5, 86_400),
    300,
    'Deadline that the venue sets in a prepared order, seconds after preparing.',
  ),
  startAllowance: setting(
    flag,
    true,
    'True: a new account has approved its tokens for the router. False: every order reverts until the control address allows it.',
  ),
  exitShape: setting(
    choice(['sdk', 'sdk-keep', 'zero', 'max']),
    'sdk',
    "How exits that come with an increase are made. `sdk`: a whole exit carries all collateral, a part none, as the venue's library has it. `sdk-keep`: a part carries its share too. `zero`: none carries any. `max`: as `sdk`, and an exit of the whole position has the largest uint256 as its size.",
  ),
  exitsReordered: setting(flag, false, 'True: the venue returns exits in another order than requested.'),
  slippageOnLimits: setting(
    flag,
    false,
    'True: the venue adds slippage to the price of limit and take-profit orders.',
  ),
  collateralOutMinOutput: setting(
    choice(['usd', 'zero']),
    'usd',
    'Least output of a withdrawal of collateral. `usd`: its value less slippage, in US dollars. `zero`: none.',
  ),
  dividesAnyPrice: setting(
    flag,
    false,
    "True: an edit writes any price divided by the index token's decimals.",
  ),
  topsUpFees: setting(
    flag,
    false,
    'True: an edit tops up the execution fee of an order to the current gas price without a request.',
  ),
  strictPrepare: setting(
    flag,
    true,
    'True: the venue refuses `autoCancel` in prepare, and `gasPaymentToken` in edits and cancels.',
  ),
  referralCode: setting(
    text,
    '',
    'Referral code that the venue adds to orders of an account whose request names none. Empty: none.',
  ),
  positionKeyForm: setting(
    choice(['any', 'row', 'contract']),
    'any',
    'Key by which a change of collateral names its position: the key of its row, the contract key, or either.',
  ),
  startGmxAccount: setting(
    decimal('an amount of whole tokens with 6 decimals at most, as 1000 or "0.5"', {
      decimals: 6,
      least: '0',
      most: '1000000000000',
    }),
    '1000',
    "What a new address holds in its GMX account, whole units of the chain's stable token.",
  ),
  poolShareBps: setting(
    integer(1, 10_000),
    3_000,
    'Size of the pools at the start, bps of the allowed maximum.',
  ),
  openInterestShareBps: setting(
    integer(0, 10_000),
    1_000,
    'Open interest at the start, bps of the allowed maximum.',
  ),
  jitPoolShareBps: setting(
    integer(0, 100_000),
    1_500,
    "Average amount that vaults can add just in time, bps of a pool's reserve limit. 0: no JIT liquidity.",
  ),
  liquidityProviders: setting(
    integer(0, 1_000),
    24,
    'Simulated wallets that hold pool tokens and earn fees.',
  ),
  earningsWarmUpSeconds: setting(
    seconds(0, 86_400),
    0,
    'How long the earnings answer 503 after a start, seconds.',
  ),
  weeklyIncentivesUsd: setting(
    integer(0, 1_000_000_000),
    12_000,
    'Weekly incentives of the deepest pools on top of their fees, USD.',
  ),
  boostAprBps: setting(
    integer(0, 1_000_000),
    1_200,
    'Launch boost of the stable coin USDG, bps a year; it falls by half every 30 days.',
  ),
  buybackShareBps: setting(
    integer(0, 10_000),
    3_000,
    "Share of the protocol's revenue for buybacks of the platform token, bps.",
  ),
  onlyMarkets: setting(
    list('a list of full symbols of markets, as ETH/USD [WETH-USDC]', (item) =>
      /^\S.* \[[^\]]+\]$/.test(item),
    ),
    [],
    'Full symbols of the only markets that the venue has, for a lighter venue; the market that fees are swapped in is always there. Empty, or none of a chain: all of its markets. A saved venue keeps its own.',
  ),
  traders: setting(
    integer(0, 2_000),
    36,
    'Number of other simulated traders, who move open interest, funding and capacity.',
  ),
} satisfies Section
