/** Fields of a row as data: our name, the wire's name, and how the value is read. For rows with dozens of optional fields. */
import { type Decoder, type Fields, lenient } from './decode.ts'

/** Our name of a field to its name on the wire and its decoder. */
export type FieldTable = Readonly<Record<string, readonly [wireName: string, decode: Decoder<unknown>]>>

/** The values of a table's fields; a field that is absent or null on the wire is absent here. */
export type FieldsOf<Table extends FieldTable> = {
  readonly [Name in keyof Table]?: Table[Name][1] extends Decoder<infer Value> ? Value : never
}

type Entries = readonly (readonly [name: string, wireName: string, decode: Decoder<unknown>])[]

const entriesOfTables = new WeakMap<FieldTable, Entries>()

/** The fields of a table as a list, made once. */
function entriesOf(table: FieldTable): Entries {
  const known = entriesOfTables.get(table)
  if (known !== undefined) return known
  const entries = Object.entries(table).map(([name, [wireName, decode]]) => [name, wireName, decode] as const)
  entriesOfTables.set(table, entries)
  return entries
}

/** Reads every field of a table that is there. Throws `Malformed` with the wire's name. */
export function fieldsOf<Table extends FieldTable>(row: Fields, table: Table): FieldsOf<Table> {
  const read: Record<string, unknown> = {}
  for (const [name, wireName, decode] of entriesOf(table)) {
    const value = row[wireName]
    if (value !== undefined && value !== null) read[name] = decode(value, wireName)
  }
  return read as FieldsOf<Table>
}

/** The same where nobody decides by these fields: one that cannot be read is absent, and costs its row nothing. */
export function lenientFieldsOf<Table extends FieldTable>(row: Fields, table: Table): FieldsOf<Table> {
  const read: Record<string, unknown> = {}
  for (const [name, wireName, decode] of entriesOf(table)) {
    const value = lenient(row[wireName], wireName, decode)
    if (value !== undefined) read[name] = value
  }
  return read as FieldsOf<Table>
}
