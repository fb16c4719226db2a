/**
 * Measures starts, by hand: `node bench/start.ts [rounds]`, after `npm run build`: processor of Node itself, of `perpd version` and
 * `perpd status`, and of a daemon on paper until it is ready, with its memory then; from the source and as it is built, in turn.
 */
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quantile } from './yardsticks.ts'

const rounds = Number(process.argv[2] ?? 5)
const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'perpd-start-'))
const env = { ...process.env, MALLOC_ARENA_MAX: '2', XDG_CACHE_HOME: join(folder, 'cache') }
const options = ['--disable-sigusr1', '--max-semi-space-size=8', '--heap-growing-percent=25']
const say = (text: string) => process.stdout.write(`${text}\n`)
const seconds = (values: readonly number[]) => `${quantile(values, 0.5).toFixed(2)} s`

/** Processor of one run to its end, s: of this process's children, before and after. */
function short(args: readonly string[]): number {
  const time = spawnSync('/bin/sh', ['-c', '"$0" "$@" >/dev/null 2>&1; times', process.execPath, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  const [, children = ''] = time.stdout.split('\n')
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
    0,
  )
}

/** Processor until a daemon on paper is ready, s, and its memory then, MB. */
async function ready(program: string, round: number): Promise<readonly [cpu: number, mb: number]> {
  const cwd = join(folder, `${round}-${program.replaceAll('/', '-')}`)
  mkdirSync(join(cwd, 'strategies'), { recursive: true })
  copyFileSync(join(root, 'strategies/eth-trend.yaml'), join(cwd, 'strategies/eth-trend.yaml'))
  const child = spawn(
    process.execPath,
    [...options, join(root, program), 'run', '--control.port=0', '--log.format=json'],
    {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const over = new Promise((resolve) => child.once('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (part) => {
      text += part
      if (text.includes('"event":"daemon.ready"')) resolve()
    })
    child.once('exit', () => reject(new Error(`it ended: ${text}`)))
  })
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  child.kill('SIGTERM')
  await over
  return [(Number(fields[11]) + Number(fields[12])) / 100, Number(kb) / 1_000]
}

try {
  // As npm starts the source.
  const programs = ['src/cli/start.js', 'dist/cli/bin.js'].filter((each) => existsSync(join(root, each)))
  const rows = new Map<string, number[]>()
  const add = (name: string, value: number) => rows.set(name, [...(rows.get(name) ?? []), value])
  // The first round fills the cache of compiled code.
  for (let round = 0; round <= rounds; round += 1) {
    const count = round === 0 ? () => undefined : add
    count('Node itself', short(['-e', '0']))
    for (const program of programs) {
      for (const command of ['version', 'status'])
        count(`${program} ${command}`, short([join(root, program), command]))
      const [cpu, mb] = await ready(program, round)
      count(`${program} run until ready`, cpu)
      count(`${program} memory when ready, MB`, mb)
    }
  }
  for (const [name, values] of rows)
    say(`${name}: ${name.endsWith('MB') ? quantile(values, 0.5).toFixed(0) : seconds(values)}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
