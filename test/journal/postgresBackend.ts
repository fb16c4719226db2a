/** A journal in PostgreSQL for tests, with the faults of a network between. */
import { rmSync } from 'node:fs'
import { Secret } from '../../src/base/secret.ts'
import type { LeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import { openPostgresStore } from '../../src/journal/postgres/openPostgres.ts'
import type { Cluster } from '../support/postgres.ts'
import type { OpenedBackend } from './conformance.ts'
import { startProxy } from './swallowingProxy.ts'

/** The wall clock of openings, Unix ms. */
const nowMs = 1_800_000_000_000

/** Where a journal is. */
export interface BackendPlace {
  readonly path: string
  readonly url: string
  readonly cluster: Cluster
  readonly schema: string
  readonly requestMs?: number
  readonly times?: LeaseTimes
}

/** Opens it through a proxy that loses what it is told to lose. */
export async function openBackend(place: BackendPlace): Promise<OpenedBackend> {
  const { path, url, cluster, schema, requestMs = 3_000, times } = place
  const proxy = await startProxy(cluster.port)
  const through = url.replace(`:${cluster.port}`, `:${proxy.port}`)
  const opened = await openPostgresStore({
    path,
    clockNow: () => nowMs,
    holder: 'test',
    postgres: {
      url: new Secret(through),
      account: 'test',
      needsStandby: false,
      signatureLivesMs: 60_000,
      requestMs,
    },
    ...(times === undefined ? {} : { times }),
  })
  const soon = (commit: () => void) => {
    setImmediate(commit)
  }
  const { store } = opened
  const close = store.close.bind(store)
  store.close = async () => {
    await close()
    await proxy.close()
  }
  return {
    store,
    journal: createJournal({ ...opened, soon }),
    takeOver: async () => {
      rmSync(`${path}.lock`, { force: true })
      return openBackend(place)
    },
    faults: {
      loseAnswer: () => proxy.loseAnswerOf('UPDATE perpd_head SET seq'),
      loseRequest: () => proxy.loseRequestOf('UPDATE perpd_head SET seq'),
      async goBack(records) {
        const was = `(SELECT max(seq) - ${records} FROM ${schema}.perpd_record)`
        cluster.sql(`BEGIN;
          UPDATE ${schema}.perpd_head SET seq = ${was}, hash = coalesce((SELECT hash FROM ${schema}.perpd_record WHERE seq = ${was}), '');
          DELETE FROM ${schema}.perpd_intent WHERE seq > (SELECT seq FROM ${schema}.perpd_head);
          DELETE FROM ${schema}.perpd_ending WHERE seq > (SELECT seq FROM ${schema}.perpd_head);
          DELETE FROM ${schema}.perpd_signed;
          DELETE FROM ${schema}.perpd_record WHERE seq > (SELECT seq FROM ${schema}.perpd_head);
          COMMIT`)
      },
    },
  }
}
