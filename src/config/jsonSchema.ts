/** The JSON Schema of a file of settings, by which an editor completes and checks `perpd.json` and `config/NAME.json`. */
import { z } from 'zod'
import type { Setting } from '../protocol/settings/setting.ts'
import {
  ALL_ACCOUNTS,
  accountNameForm,
  accountNameText,
  accountSections,
  mostAccounts,
} from './accountNames.ts'
import { settings } from './configSchema.ts'

/** The schema as JSON carries it. What it cannot say of a value stands in the description; perpd itself checks all of it. */
export function settingsSchema(): Readonly<Record<string, unknown>> {
  const properties: Record<string, unknown> = { $schema: { type: 'string' } }
  const sections = new Map<string, Record<string, unknown>>()
  for (const entry of settings) {
    const [section = '', name] = entry.key.split('.')
    if (name === undefined) properties[section] = schemaOf(entry)
    else sections.set(section, { ...sections.get(section), [name]: schemaOf(entry) })
  }
  const ofSection = (inner: Readonly<Record<string, unknown>>) => ({
    type: 'object',
    additionalProperties: false,
    properties: inner,
  })
  for (const [section, inner] of sections) properties[section] = ofSection(inner)
  properties.accounts = {
    description: `Accounts of one process, by name, each with its settings over those of all. Expected: ${accountNameText}.`,
    type: 'object',
    minProperties: 1,
    maxProperties: mostAccounts,
    propertyNames: { pattern: accountNameForm.source.replace('^', `^(?!${ALL_ACCOUNTS}$)`) },
    additionalProperties: ofSection(
      Object.fromEntries(accountSections.map((section) => [section, ofSection(sections.get(section) ?? {})])),
    ),
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of perpd',
    type: 'object',
    additionalProperties: false,
    properties,
  }
}

function schemaOf({ doc, default: initial, reads }: Setting): Readonly<Record<string, unknown>> {
  const { $schema: _, ...shape } = z.toJSONSchema(reads.written, { io: 'input', unrepresentable: 'any' })
  return { description: `${doc} Expected: ${reads.expected}.`, default: initial, ...shape }
}
