/** Checks of this machine: Node, the process, files that hold secrets, the folder of the state, its disk. */
import { constants, existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import type { Config } from '../../config/configTypes.ts'
import { processProblems, processWarnings } from '../../daemon/hardening.ts'
import { nodeReport } from '../../daemon/nodeBinary.ts'
import { secretFaults, secretFiles } from '../../daemon/ownFiles/secretFiles.ts'
import { nearestFolder, placeText, statePlaces } from '../../daemon/ownFiles/statePlaces.ts'
import { stateProblems } from '../../daemon/trustedState.ts'
import { BALLAST_BYTES } from '../../journal/ballast.ts'
import { freeBytesBeside } from '../../journal/freeSpace.ts'
import { counted } from '../../monitor/text.ts'
import type { BareCall } from '../call/command.ts'
import { type Finding, fail, faultFinding, pass, warn } from './finding.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2
/** Free space below which a disk is told of, and below which it is no place for a journal, bytes. */
const LOW_BYTES = GIB
const LEAST_BYTES = 100 * MIB

/** The Node that runs this, and how the process was started. */
export function checkProcess(config: Config, { env, execArgv }: BareCall): readonly Finding[] {
  const { text, warnings } = nodeReport()
  const [major = 0] = process.versions.node.split('.').map(Number)
  const problems = processProblems(config, { env, execArgv })
  return [
    major >= 24
      ? pass('node', text)
      : fail('node', `${text}; perpd needs Node 24 or newer`, 'Install a newer Node: https://nodejs.org'),
    ...(config.isPaper ? [] : warnings).map((each) => warn('node', each, 'docs/hardening.md')),
    ...problems.map((each) => fail('process', each, 'Start perpd in another way: docs/hardening.md')),
    ...processWarnings(config, { env }).map((each) => warn('process', each, 'docs/hardening.md')),
  ]
}

/**
 * The files that are for their owner alone: of those that are there, whether nobody else can read or swap them.
 *
 * @param credentialsDirectory `$CREDENTIALS_DIRECTORY`; undefined: only what lies where systemd puts credentials is one.
 */
export function checkSecrets(config: Config, credentialsDirectory: string | undefined): readonly Finding[] {
  const found = secretFiles(config).filter(({ path }) => existsSync(path))
  const problems = secretFaults(config, credentialsDirectory).map(({ path, error }) =>
    faultFinding('secrets', error, `chmod 600 ${path}`),
  )
  if (problems.length > 0) return problems
  return [
    pass(
      'secrets',
      found.length === 0
        ? 'no file with a key or a token is there yet'
        : `${counted(found.length, 'file')} with keys and tokens, each readable by its owner only`,
    ),
  ]
}

/** Where the journal and the tokens are kept, or will be: writable, on a disk with room, and nobody else's. */
export function checkState(config: Config): readonly Finding[] {
  const isInMemory = config.journal.path === 'memory:'
  const path = isInMemory ? config.control.tokenFile : config.journal.path.replace(/^sqlite:/, '')
  const there = nearestFolder(dirname(path))
  const trust = stateProblems(config).map((each) => fail('state', each, 'Move it, or remove the permission.'))
  const shared = config.isPaper || isInMemory ? [] : sharedDisk(there)
  return [...trust, ...placeFindings(config), diskFinding(there), ...shared]
}

/** Folders in which anybody may write, on most systems. */
const anybodys = [...new Set(['/tmp', '/var/tmp', '/dev/shm', tmpdir()])]

/** Warns where anybody can fill the disk of the journal, by a folder that everybody may write. */
export function sharedDisk(there: string, folders: readonly string[] = anybodys): readonly Finding[] {
  const { dev } = statSync(there)
  const open = folders.find((folder) => {
    const found = statSync(folder, { throwIfNoEntry: false })
    return found !== undefined && found.dev === dev && (found.mode & constants.S_IWOTH) !== 0
  })
  if (open === undefined) return []
  return [
    warn(
      'disk',
      `the journal shares its disk with ${open}, where anybody may write: if it fills up, perpd has ${BALLAST_BYTES / MIB} MiB of ballast left to close positions`,
      `Put the journal or ${open} on a separate file system, or set a quota.`,
    ),
  ]
}

/** The places of the state, a finding each. */
function placeFindings(config: Config): readonly Finding[] {
  return statePlaces(config).map((place) => {
    const { settings, problem } = place
    if (problem === undefined) return pass('state', `${placeText(place)} can be written`)
    const names = settings.join(' and ')
    return fail('state', `${placeText(place)} ${problem.reason}`, `${problem.remedy} in ${names}.`)
  })
}

function diskFinding(there: string): Finding {
  const free = freeBytesBeside(`${there}/journal`)
  if (free === undefined) return warn('disk', 'the system reports no free space', 'Check: df -h')
  const text = `${free >= GIB ? `${(free / GIB).toFixed(1)} GiB` : `${Math.floor(free / MIB)} MiB`} free for ${there}`
  const remedy = 'Make room, or set journal.path to a larger local disk.'
  if (free < LEAST_BYTES) return fail('disk', text, remedy)
  return free < LOW_BYTES ? warn('disk', text, remedy) : pass('disk', text)
}
