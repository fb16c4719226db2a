/** The text of `perpd.json` and of the strategy files that `perpd init` begins a folder with. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileName, kindLines } from '../strategies/newCommand.ts'
import { builtInKind } from '../strategies/shippedExamples.ts'
import { type Choices, keyVariable } from './initChoices.ts'

/** The instance that runs when nothing else is chosen. */
const usual = { name: 'eth-trend.yaml', kind: 'trend', market: 'ETH/USD [WETH-USDC]', sizeUsd: '500' }

/** `perpd.json`, with comments. `schema`: path of the JSON Schema of settings. */
export function settingsText(choices: Choices, schema: string): string {
  const { profile, maxDailyLossUsd } = choices
  const sections = [
    `  // Which profile it starts from: paper is play money. Every setting with its meaning: docs/reference/configuration.md;\n  // what is in force, and where each value came from: perpd config\n  "profile": ${JSON.stringify(profile)}`,
    `  "risk": {\n    // Nothing is opened any more once a day (from 00:00 UTC) lost this much, US dollars.\n    "maxDailyLossUsd": ${maxDailyLossUsd}\n  }`,
    ...keySection(choices),
    ...chainSection(choices),
  ]
  return `{\n  "$schema": ${JSON.stringify(schema)},\n${sections.join(',\n')}\n}\n`
}

function keySection({ key }: Choices): readonly string[] {
  if (key === undefined) return []
  const text =
    key === keyVariable
      ? `    // The key comes from the variable ${keyVariable}: whoever reads it owns the account. perpd keys import encrypts it.\n    "acceptRawKey": true`
      : `    // An encrypted file: perpd keys new makes it, and asks for its password. No key stands in this file.\n    "keystore": ${JSON.stringify(key)}`
  return [`  "account": {\n${text}\n  }`]
}

function chainSection({ rpc, isRpcSecret }: Choices): readonly string[] {
  if (isRpcSecret) {
    return [
      '  // The endpoint that was named may have a key in its address: give it in the variable PERPD__RPC__HTTP.\n  "rpc": {}',
    ]
  }
  return rpc === undefined
    ? []
    : [
        `  "rpc": {\n    // The chain's own word on how an order ended; a second one of another provider checks the first.\n    "http": [${JSON.stringify(rpc)}]\n  }`,
      ]
}

/** The strategy file of the choices, where no shipped one is it. */
export function chosenStrategy({
  kind: name,
  market,
  sizeUsd,
}: Choices): { name: string; text: string } | undefined {
  const kind = builtInKind(name)
  const isUsual = name === usual.kind && market === usual.market && sizeUsd === usual.sizeUsd
  if (isUsual || !kind.opensPositions) return undefined
  const lines = kindLines(kind, market, { isEnabled: true, sizeUsd })
  const text = ['# yaml-language-server: $schema=./strategy.schema.json', ...lines, ''].join('\n')
  return { name: fileName(name, market), text }
}

/** A shipped file as it is written: the usual instance is off where another was chosen. */
export function shippedText(folder: string, name: string, choices: Choices): string {
  const text = readFileSync(join(folder, name), 'utf8')
  const { kind, market, sizeUsd } = usual
  const isChosen = choices.kind === kind && choices.market === market && choices.sizeUsd === sizeUsd
  return name !== usual.name || isChosen ? text : text.replace(/^enabled: true /m, 'enabled: false')
}
