/** A command line without the rights of root: whoever runs tests as root is nobody from here on. */
import { main } from '../../src/cli/main.ts'

if (process.getuid?.() === 0) {
  process.setgid?.(65_534)
  process.setgroups?.([])
  process.setuid?.(65_534)
}
const [folder = '', ...argv] = process.argv.slice(2)
const write = (text: string): void => void process.stdout.write(`${text}\n`)
process.exit(await main(argv, { env: {}, cwd: folder, out: write, err: write }))
