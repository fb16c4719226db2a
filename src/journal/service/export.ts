/** The records as they are stored, one after the other: for archives, other tools, and proof. */
import { defined } from '../../base/defined.ts'
import { decodeExact, encodeExact } from '../../domain/records.ts'
import { openFault } from '../journalFaults.ts'
import type { PostgresJournal } from '../postgres/postgresPlace.ts'
import { openForReading } from '../sqlite/journalReader.ts'
import type { RecordQuery } from '../sqlite/recordReplay.ts'

/** Which records to give, and how much of them. */
export interface ExportQuery extends RecordQuery {
  /** Signatures too. Without them a record's text is not what its hash was made of. */
  readonly withSignatures?: boolean
}

type Out = (line: string) => void

/** Hears after each record how many of how many were given. */
type Progress = (done: number, total: number) => void

/**
 * Gives each record of a journal as one line of JSON: its number, its hash, and the record with bigints as `{"$bigint":"..."}`. With
 * signatures, `hash` is SHA-256 over the hash before it, its number and the text of `record`, parted by line breaks. All of it is of one moment,
 * whatever a daemon writes meanwhile.
 *
 * @returns how many there were.
 * @throws JournalFaultError as the store's reader does.
 */
export async function exportJournal(
  { path, postgres }: { readonly path: string; readonly postgres?: PostgresJournal | undefined },
  query: ExportQuery,
  out: Out,
  progress?: Progress,
): Promise<number> {
  if (postgres === undefined) return exportFile(path, query, out, progress)
  const { openPostgresView } = await import('../postgres/postgresView.ts')
  const view = await openPostgresView(postgres)
  try {
    const total = progress === undefined ? 0 : await view.count(query)
    let records = 0
    for await (const page of view.records(query)) {
      for (const [seq, , , , , body, hash] of page) {
        out(lineOf(seq, hash, body, query))
        records += 1
        progress?.(records, total)
      }
    }
    return records
  } finally {
    await view.close()
  }
}

const matching = 'FROM record WHERE at_ms >= ?1 AND (?2 IS NULL OR substr(intent_id, 1, length(?2)) = ?2)'

function exportFile(path: string, query: ExportQuery, out: Out, progress: Progress | undefined): number {
  const db = openForReading(path)
  try {
    const asked = [query.sinceMs ?? 0, query.intentId ?? null] as const
    // A daemon may go on writing between the count and the records.
    db.exec('BEGIN')
    const total =
      progress === undefined ? 0 : Number(db.prepare(`SELECT count(*) AS n ${matching}`).get(...asked)?.n)
    let records = 0
    const select = db.prepare(`SELECT seq, hash, body ${matching} ORDER BY seq`)
    for (const { seq, hash, body } of select.iterate(...asked)) {
      out(lineOf(Number(seq), String(hash), String(body), query))
      records += 1
      progress?.(records, total)
    }
    return records
  } catch (cause) {
    throw openFault(path, cause)
  } finally {
    db.close()
  }
}

function lineOf(seq: number, hash: string, body: string, { withSignatures }: ExportQuery): string {
  const text = withSignatures === true ? body : withoutSignature(body)
  return `{"seq":${seq},"hash":"${hash}","record":${text}}`
}

function withoutSignature(body: string): string {
  if (!body.includes('"signature"')) return body
  const record = decodeExact(body) as { readonly armed?: object }
  const { armed } = record
  return encodeExact({ ...record, ...defined({ armed: armed && { ...armed, signature: '0x' } }) })
}
