/** The `protect` block of an instance's file with what it is judged by now. */
import type { Protections } from '../../domain/account/protection.ts'
import type { BookReads } from '../../domain/books/books.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { openResultUsd } from '../../domain/views/bookView.ts'
import type { Protection } from '../../risk/exposure/admissionContext.ts'

/** A strategy's rules of when it adds nothing, with its record and what its open parts would bring. */
export function protectionOf(
  books: Pick<BookReads, 'trackOf' | 'partsOf'>,
  strategy: string,
  rules: Protections,
  { positions }: Pick<Snapshot, 'positions'>,
): Protection {
  const openUsd = openResultUsd(books.partsOf(strategy), positions.value)
  return { rules, track: books.trackOf(strategy), openUsd }
}
