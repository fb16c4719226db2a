/**
 * The one composition: account, catalogue, fees, order machine and engine over the clock, network, journal and key of its
 * caller. Live, paper, simulations and tests are this function with other parts.
 */

import type { EngineSettings } from '../account/engineSettings.ts'
import { createAccountJournal } from '../account/halts/accountJournal.ts'
import { createTrading } from '../account/halts/tradingHalts.ts'
import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import {
  createSubaccountWatch,
  type SubaccountSettings,
  type SubaccountWatchContext,
} from '../account/subaccountWatch.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import type { Emit } from '../domain/event.ts'
import type { ChainReader } from '../domain/machine/chainReader.ts'
import type { EvidenceRules } from '../domain/machine/observation.ts'
import type { WarningPolicy } from '../domain/order/warning.ts'
import type { Signer } from '../domain/signer.ts'
import { createEnding } from '../engine/phase.ts'
import type { ExecutionSettings } from '../execution/context/executionSettings.ts'
import { createFees } from '../execution/context/feeEstimates.ts'
import type { UsualFees } from '../execution/context/feeMemory.ts'
import { createGasWatch } from '../execution/context/gasWatch.ts'
import type { SigningPolicy } from '../execution/context/policy.ts'
import type { SwapMarkets } from '../execution/context/swapPath.ts'
import type { Journal } from '../journal/journal.ts'
import type { MarketData } from '../market/marketData.ts'
import type { EngineLabels } from '../operator/port/statusReport.ts'
import type { Address } from '../protocol/address.ts'
import { chainGas } from '../protocol/chains/gas.ts'
import type { Market } from '../protocol/market.ts'
import { emptySubaccountApproval } from '../protocol/signing/approvalTypes.ts'
import type { Usd } from '../protocol/units.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { createEngine, type Engine } from './engine.ts'
import type { EngineParts } from './wiring/engineParts.ts'

/** Market data that decides what may be signed, at the moment of a signature. */
export interface SigningFacts {
  /** Markets that swaps may go through. */
  readonly swapMarkets: SwapMarkets
  /** USD per whole native token; undefined before one was read. */
  readonly nativePriceUsd: Usd | undefined
}

/** Settings of a trader, except its limits. */
export interface TraderSettings {
  readonly rules: EvidenceRules
  readonly execution: ExecutionSettings
  readonly engine: EngineSettings
  /** Limits of any signature. */
  readonly signingPolicy: (facts: SigningFacts) => SigningPolicy
  /** Effects of warnings on orders, before a strategy's file makes them stricter; absent: the defaults. */
  readonly warnings?: WarningPolicy
  /** Assumed fees before any order has landed; absent: only the highest fees bound them. */
  readonly usualFees?: UsualFees
}

/** The owner of a delegated key, and what the owner signed. */
export interface Owner {
  readonly account: Address
  readonly readApproval: SubaccountWatchContext['readApproval']
  readonly settings: SubaccountSettings
  /** Persists the notices about the approval; absent: the next run repeats them. */
  readonly told?: NonNullable<SubaccountWatchContext['told']>
  /** Absent: no renewal is prepared. */
  readonly prepareRenewal?: EngineParts['prepareRenewal']
}

/** Receivers beside the events. */
export interface TraderListeners {
  /** Told the venue's markets once, before the first tick; what it throws ends the start. */
  readonly onMarkets?: (markets: readonly Market[]) => void
  /** Receives each turn that a kind answered; absent: turns are not recorded. */
  readonly recordTurn?: EngineParts['recordTurn']
}

/** Parts of a trader. The maker of a part closes it, after the trader was stopped. */
export interface TraderParts {
  /** Data of the chain's markets; several traders on it may share them. */
  readonly market: MarketData
  readonly clock: Clock
  readonly journal: Journal
  /** Signs behind the signing guard, if there is one. */
  readonly signer: Signer
  /** Prepares claims of amounts that are due; absent: no claim is prepared. */
  readonly prepareClaim?: EngineParts['prepareClaim']
  /** Absent: the signer's key is the account's own. */
  readonly owner?: Owner
  /** Absent: the APIs alone close orders. */
  readonly chainReader?: ChainReader
  readonly strategies: readonly LoadedStrategy[]
  /** Reloads strategies; absent: they never change. */
  readonly strategyFiles?: EngineParts['strategyFiles']
  readonly limits: ConfiguredLimits
  readonly readLimits?: EngineParts['readLimits']
  readonly settings: TraderSettings
  readonly labels: EngineLabels
  /** Absent: nobody listens. */
  readonly listeners?: TraderListeners
  readonly emit: Emit
  /** Receives a mistake of perpd or a fault of the journal, after the trader has stopped. */
  readonly fatal: (error: unknown) => void
}

/** A trader: start, stop, status, and the operator's commands. */
export type Trader = Engine

/** Makes a trader. It sends no request before `start()`. */
export function createTrader(parts: TraderParts): Trader {
  const { market, clock, journal, emit, signer, owner, chainReader, strategies, settings } = parts
  const { api, catalogue, chain, nativePrice } = market
  const ending = createEnding()
  const fatal = (error: unknown): void => {
    ending.abort()
    parts.fatal(error)
  }
  const accountJournal = createAccountJournal({ journal, clock })
  const trading = createTrading({ accountJournal, emit })
  const subaccount =
    owner === undefined
      ? undefined
      : createSubaccountWatch({
          ...owner,
          api,
          clock,
          emit,
          journal,
          empty: emptySubaccountApproval(signer.address, chain.chainId),
          subaccount: signer.address,
        })
  const gasPrices = chainReader?.gasPrices
  const fees =
    settings.usualFees === undefined
      ? undefined
      : createFees({
          chain,
          clock,
          usual: settings.usualFees,
          nativePrice,
          isSubaccount: subaccount !== undefined,
          ...defined({
            gas: gasPrices === undefined ? undefined : createGasWatch(chainGas[chain.name], gasPrices, clock),
          }),
        })
  return createEngine({
    ending,
    market,
    execution: {
      journal,
      signer,
      clock,
      emit,
      fatal,
      rules: settings.rules,
      settings: settings.execution,
      signingPolicy: () =>
        settings.signingPolicy({ swapMarkets: catalogue.swapMarkets(), nativePriceUsd: nativePrice.usd() }),
      ...defined({ chainReader, fees, delegation: subaccount }),
    },
    engineSettings: settings.engine,
    trading,
    strategies,
    limits: parts.limits,
    labels: parts.labels,
    ...defined({
      subaccount,
      prepareRenewal: owner?.prepareRenewal,
      prepareClaim: parts.prepareClaim,
      warnings: settings.warnings,
      strategyFiles: parts.strategyFiles,
      readLimits: parts.readLimits,
      onMarkets: parts.listeners?.onMarkets,
      recordTurn: parts.listeners?.recordTurn,
    }),
  })
}
