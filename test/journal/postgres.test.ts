/** The store in PostgreSQL, on a real server: what every store must do. Its faults are in postgresFaults.test.ts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { journalConformance } from './conformance.ts'
import { openBackend } from './postgresBackend.ts'

let cluster: Cluster
const directory = mkdtempSync(join(tmpdir(), 'perpd-postgres-journal-'))
beforeAll(async () => {
  cluster = await startCluster()
}, 120_000)
afterAll(() => {
  cluster.remove()
  rmSync(directory, { recursive: true })
})

let journals = 0
journalConformance('postgres', () => {
  journals += 1
  const path = join(directory, `${journals}.db`)
  return openBackend({ path, url: cluster.url(`t${journals}`), cluster, schema: `t${journals}` })
})
