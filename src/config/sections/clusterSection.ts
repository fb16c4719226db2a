/** Settings of a fleet: several daemons that share accounts out among them. */
import { type Section, setting } from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `cluster`. */
export const cluster = {
  name: setting(
    as.journalAccount,
    '',
    'Name of a fleet: daemons of the same name, profile and database share the accounts out for which each has a key. Needs accounts and journal.standby. Empty: this daemon tries for every account that it has.',
  ),
  node: setting(
    as.journalAccount,
    '',
    "Name of this daemon in its fleet; no other one has it. Empty: the machine's host name.",
  ),
} satisfies Section
