/** The records as they stand in the file, one after the other: for archives, other tools, and proof. */
import { defined } from '../../base/defined.ts'
import { decodeExact, encodeExact } from '../../domain/records.ts'
import { openFault } from '../journalFaults.ts'
import { openForReading } from '../sqlite/journalReader.ts'

/** Which records to give, and how much of them. */
export interface ExportQuery {
  /** Only records written from then on, Unix ms. */
  readonly sinceMs?: number
  /** Only records of intents whose id begins so. */
  readonly intentId?: string
  /** Signatures too. Without them a record's text is not what its hash was made of. */
  readonly withSignatures?: boolean
}

const matching = 'FROM record WHERE at_ms >= ?1 AND (?2 IS NULL OR substr(intent_id, 1, length(?2)) = ?2)'

/**
 * Gives each record as one line of JSON: its number, its hash, and the record with bigints as `{"$bigint":"..."}`. With
 * signatures, `hash` is SHA-256 over the hash before it, its number and the text of `record`, parted by line breaks.
 * `progress` is told after each one how many of how many were given.
 *
 * @returns how many there were.
 * @throws JournalFaultError as `openSqliteReader` does.
 */
export function exportSqliteJournal(
  path: string,
  query: ExportQuery,
  out: (line: string) => void,
  progress?: (done: number, total: number) => void,
): number {
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
      const text = query.withSignatures === true ? String(body) : withoutSignature(String(body))
      out(`{"seq":${String(seq)},"hash":"${String(hash)}","record":${text}}`)
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

function withoutSignature(body: string): string {
  if (!body.includes('"signature"')) return body
  const record = decodeExact(body) as { readonly armed?: object }
  const { armed } = record
  return encodeExact({ ...record, ...defined({ armed: armed && { ...armed, signature: '0x' } }) })
}
