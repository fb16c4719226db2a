/** Formats of settings that only the paper venue has. */
import { chainNamed } from '../../protocol/chains/index.ts'
import { type Format, list } from '../../protocol/settings/setting.ts'

/** Hours of markets, `INDEX/USD=HH:MM-HH:MM`. */
export const marketHours: Format<readonly string[]> = list(
  'a list of MARKET=HH:MM-HH:MM, as XAU/USD=13:30-20:00',
  (item) => /^[^=]+=([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/.test(item),
)

/** Gas prices by chain, `CHAIN=gwei`; gwei as decimal text. */
export const chainPrices: Format<readonly { readonly chain: string; readonly gwei: string }[]> = list(
  'a list of CHAIN=gwei, as arbitrum=0.05',
  (item) => {
    const [, named = '', gwei = ''] = /^([^=]+)=(\d{1,6}(?:\.\d{1,9})?)$/.exec(item) ?? []
    return chainNamed(named) !== undefined && Number(gwei) > 0
  },
  {
    means: (item) => {
      const [named = '', gwei = ''] = item.split('=')
      return { chain: named, gwei }
    },
  },
)

/** Pools open to wallets, `WALLET=MARKET`; a market is its symbol or its market token. */
export const walletMarkets: Format<readonly { readonly wallet: string; readonly market: string }[]> = list(
  'a list of WALLET=MARKET, as 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A=ETH/USD [WETH-USDC]',
  (item) => /^0x[0-9a-fA-F]{40}=[^=]+$/.test(item),
  {
    means: (item) => {
      const [wallet = '', market = ''] = item.split('=')
      return { wallet, market }
    },
  },
)

/** A part of a pool that a wallet holds. */
export interface PoolShare {
  readonly wallet: string
  readonly market: string
  /** Millionths of the pool. */
  readonly sharePpm: number
}

/** Parts of pools that wallets hold, `WALLET=MARKET=millionths`. */
export const walletShares: Format<readonly PoolShare[]> = list(
  'a list of WALLET=MARKET=millionths, as 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A=ETH/USD [WETH-USDC]=2500',
  (item) => {
    const [, share] = /^0x[0-9a-fA-F]{40}=[^=]+=(\d{1,7})$/.exec(item) ?? []
    return share !== undefined && Number(share) <= 1_000_000
  },
  {
    means: (item) => {
      const [wallet = '', market = '', share] = item.split('=')
      return { wallet, market, sharePpm: Number(share) }
    },
  },
)

/** Amounts of tokens, `SYMBOL=amount`; whole tokens as decimal text. */
export const tokenAmounts: Format<readonly { readonly symbol: string; readonly amount: string }[]> = list(
  'a list of SYMBOL=amount, as USDC=10000',
  (item) => /^[A-Za-z][A-Za-z0-9.]*=\d{1,30}(\.\d{1,18})?$/.test(item),
  {
    means: (item) => {
      const [symbol = '', amount = ''] = item.split('=')
      return { symbol, amount }
    },
  },
)
