/** Settings of the paper venue: where it is kept and served, and what the venue itself takes (`protocol/settings/paperSection.ts`). */

import { simulated } from '../../protocol/settings/paperSection.ts'
import { integer, type Section, setting, textOrNone } from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'
import { chainPrices, marketHours, tokenAmounts, walletMarkets, walletShares } from './paperFormats.ts'

/** Largest seed. */
export const MOST_SEED = 2_147_483_647

/** Settings under `paper`. */
export const paper = {
  chains: setting(
    as.chainList,
    [],
    'Chains the paper venue serves, each with its own state, with prices in step. venue.chain is always among them. Empty: venue.chain alone.',
  ),
  seed: setting(
    integer(0, MOST_SEED),
    0,
    "Seed of the embedded venue's prices: the same seed and start give the same prices. 0: each new folder draws its own at its first start, and keeps it.",
  ),
  port: setting(
    integer(0, 65_535),
    0,
    'Port of the embedded venue; 0 takes a free one, and the same one at the next start.',
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
    tokenAmounts,
    ['USDC=100000', 'ETH=10'],
    'What a new account starts with, SYMBOL=amount in whole tokens. USDC means the stable token of a chain that has no USDC.',
  ),
  faults: setting(
    textOrNone,
    '',
    'Faults that the venue has from the start, as the JSON that its control address takes: one or a list, with switches and wire rules mixed. Empty: none.',
  ),
  scenario: setting(
    as.pathOrNone,
    '',
    'YAML or JSON file of faults that the venue plays at set times; docs/reference/paper-venue.md shows one. Empty: none.',
  ),
  replayFile: setting(
    as.pathOrNone,
    '',
    'CSV or JSON file of candles that the prices follow from the start of the venue. Empty: seeded prices.',
  ),
  speed: setting(integer(1, 100_000), 1, 'How many seconds of the candle file pass in one second.'),
  gasPriceGwei: setting(
    chainPrices,
    [],
    "Mean of a chain's random gas price, CHAIN=gwei. A chain that is not listed has its usual price.",
  ),
  poolShares: setting(
    walletShares,
    [],
    'Wallets that hold a part of a pool from the start, in millionths of the pool.',
  ),
  whitelists: setting(walletMarkets, [], 'Wallets that may deposit, each with its pool.'),
  marketHours: setting(
    marketHours,
    [],
    'Markets that open and close, MARKET=HH:MM-HH:MM in UTC, Monday to Friday. All others are always open.',
  ),
  ...simulated,
} satisfies Section
