/** The package as `npm pack` makes it, for tests that install it. */
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..', '..')

/** The environment without what `npm test` adds: npm would take the project for the place to install in. */
export const npmEnv: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?:config_local_prefix|package|lifecycle)/i.test(name),
  ),
)

/** Runs npm in a folder. */
export const npm = (args: readonly string[], cwd: string) =>
  run('npm', [...args, '--no-audit', '--no-fund', '--no-update-notifier'], {
    cwd,
    env: npmEnv,
    timeout: 300_000,
  })

/** What npm says where it has neither a warm cache nor a registry. */
export const cannotFetch =
  /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/

/** Builds and packs the project into a folder; gives the file. */
export async function packInto(folder: string): Promise<string> {
  const packed = await npm(['pack', '--json', '--pack-destination', folder], root)
  // What the build prints comes before the JSON.
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [
    { filename: string },
  ]
  return join(folder, filename)
}
