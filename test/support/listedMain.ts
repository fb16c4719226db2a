/** `perpd` as tests start it, which writes the address of each module that it loaded to the file MODULES_FILE when it ends. */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
process.once('exit', () => writeFileSync(process.env.MODULES_FILE ?? '', loaded.join('\n')))
await import('./guardedMain.ts')
