// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const foreign = 'test/trust/foreign-store.test.ts'
const foreignFile = 'test/trust/foreign-file.test.ts'
const tree = 'test/trust/store-in-tree.test.ts'

const tokenFile = 'test/doors/http/token-file.test.ts'
const bounds = 'test/parts/config/bounds.test.ts'
const watch = 'test/parts/config/watch.test.ts'
const secret = 'test/targets/secret.test.ts'
const configFile = 'test/parts/config/file.test.ts'

/** Stores and files that other people put where Belfry finds them. */
export const trust: readonly Mutant[] = [
  {
    id: 'foreign-store-is-obeyed',
    hazard: 'A store that another user put into a shared folder starts programs as the user who works beneath it.',
    edits: [['refuseForeignStore', 'if (first === undefined || new', `if (first?.path !== '' || new`]],
    suites: [foreign],
  },
  {
    id: 'shared-folder-of-a-store-is-overlooked',
    hazard: 'Every user of the machine can put a log beside a store, which SQLite reads as a part of it.',
    edits: [['strangersAt', 'strangersBesideRoot(folder, own, 0)', 'strangersBesideRoot(folder, own, sticky)']],
    suites: [foreign],
  },
  {
    id: 'store-of-a-tree-starts-programs',
    hazard: 'A store that came with a checked-out tree starts programs before its user has trusted it.',
    edits: [['refuseUnmarkedStore', 'if (differs === null) return', `if (differs !== '') return`]],
    suites: [tree],
  },
  {
    id: 'store-that-git-tracks-is-adopted',
    hazard: 'A store without a mark that came with a checked-out tree is taken for one of an earlier version.',
    edits: [['mayBeTracked', `error !== null || stdout !== ''`, `error !== null || stdout === '?'`]],
    suites: [tree],
  },
  {
    id: 'names-of-a-file-are-compared-in-pairs',
    hazard: 'A file with ten thousand names keeps a worker busy for minutes, before anybody has trusted it.',
    edits: [['readAs', 'uniqueKeys: false', 'uniqueKeys: true']],
    suites: [bounds],
  },
  {
    id: 'file-is-parsed-without-a-bound',
    hazard: 'A megabyte of signs is parsed as a whole before it is refused.',
    edits: [['document-bounds.ts tokensOf', 'tokens.length > tokensMax', 'tokens.length < 0']],
    suites: [bounds],
  },
  {
    id: 'levels-of-a-file-are-not-counted',
    hazard: 'A parser follows thousands of levels inside each other, which keeps a worker busy or ends it.',
    edits: [['document-bounds.ts tokensOf', 'levels.count > levelsMax', 'levels.count < 0']],
    suites: [bounds],
  },
  {
    id: 'file-is-judged-in-one-turn',
    hazard: 'A file of a thousand schedules keeps a worker from its leases while it is judged.',
    edits: [['readSection', 'found.length % entriesInTurnMax === 0', 'found.length < 0']],
    suites: [bounds],
  },
  {
    id: 'worker-rehearses-an-untrusted-file',
    hazard: 'A file that the user has not trusted stops the worker for half a minute at every look.',
    edits: [['applyRead', `trusting.judges === 'outline'`, `trusting.judges !== 'outline'`]],
    suites: [watch],
  },
  {
    id: 'untrusted-file-is-parsed-at-every-look',
    hazard: 'A file that the user has not trusted costs the worker as much at every look as at the first.',
    edits: [['readConfigFile', 'last.hash === hash &&', `last.hash === '' &&`]],
    suites: [watch],
  },
  {
    id: 'git-starts-a-program-of-the-tree',
    hazard: 'Asking git whether a store came with a tree starts a program that the settings of the tree name.',
    edits: [
      ['ownEnvironment', `GIT_NO_LAZY_FETCH: '1'`, `GIT_NO_LAZY_FETCH: '0'`],
      ['ownEnvironment', `GIT_ALLOW_PROTOCOL: ''`, `GIT_ALLOW_PROTOCOL: 'ext'`],
      ['ownSettings', `'protocol.ext.allow=never'`, `'protocol.ext.allow=always'`],
    ],
    suites: [tree],
  },
  {
    id: 'foreign-folder-gives-secrets',
    hazard: 'A worker on PostgreSQL takes its secrets from a folder of another user, and writes its token there.',
    edits: [['ownFolder', 'if (found !== null && !isForeignStore(', 'if (found !== null || isForeignStore(']],
    suites: [foreign],
  },
  {
    id: 'secret-of-another-user-is-used',
    hazard: 'Another user chooses a secret of this worker.',
    edits: [['rightsProblem', 'uid !== own && uid !== root', 'uid !== own && uid === root']],
    suites: [secret],
  },
  {
    id: 'trust-in-a-store-holds-for-another',
    hazard: 'Trust in one store holds for another store, with whose path its own path ends.',
    edits: [['TrustedStores.#usersOf', 'each) => storeIn(each) === store', 'each) => each.endsWith(` ${store}`)']],
    suites: [foreign],
  },
  {
    id: 'mark-that-does-not-fit-is-not-told',
    hazard: 'A worker starts on a store of another machine or user, and its user does not hear of it.',
    edits: [['up.ts up', 'if (worker.note !== null)', 'if (worker.note === undefined)']],
    suites: [tree],
  },
  {
    id: 'pipe-is-opened-as-a-file',
    hazard: 'A command, or a worker, waits for ever for somebody who writes to a named pipe.',
    edits: [['openToRead', 'if (stats.isFile() || stats.isDirectory())', 'if (!stats.isSymbolicLink())']],
    suites: [configFile],
  },
  {
    id: 'namespaces-share-a-token-file',
    hazard:
      'Two namespaces in one folder overwrite the token of each other, and each start leaves an admin token behind.',
    edits: [['tokenFileIn', 'if (namespace === defaultNamespace)', `if (namespace !== '')`]],
    suites: [tokenFile],
  },
  {
    id: 'foreign-file-is-obeyed',
    hazard: 'A belfry.yaml that another user put into a shared folder starts programs as the user who works there.',
    edits: [['Trust.reasonToAsk', 'path === this.#found ?', 'path === `${this.#found} ` ?']],
    suites: [foreignFile],
  },
]
