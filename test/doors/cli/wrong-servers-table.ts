import type { WrongInputs } from './wrong-inputs-table.ts'

/** What somebody types wrong who means a server. SHOWN is a token that is none of anybody's. */
export const servers: WrongInputs = {
  about: 'Servers',
  cases: [
    [2, 'an address without its scheme', 'belfry queue list --server localhost:4747'],
    [2, 'a port alone', 'belfry queue list --server 4747'],
    [2, 'an address that is none', 'belfry queue list --server ftp://localhost/'],
    [2, 'a password in an address', 'belfry queue list --server http://me:secret@127.0.0.1:4747'],
    [2, 'an address that asks for something', 'belfry queue list --server http://127.0.0.1:4747/?token=x'],
    [2, 'a server and a store', 'belfry queue list --server http://127.0.0.1:4747 --store sqlite:a.db --namespace n'],
    [2, 'a server and a store in the environment', 'BELFRY_SERVER=http://a BELFRY_STORE=memory: belfry queue list'],
    [2, 'a token that is typed', 'belfry queue list --server http://127.0.0.1:4747 --token SHOWN'],
    [2, 'a file with a token, and no server', 'belfry queue list --token-file notes.txt'],
    [2, 'a file with a token that is not there', 'belfry queue list --server http://a --token-file nowhere'],
    [6, 'a file without a token', 'belfry queue list --server http://a --token-file notes.txt'],
    [6, 'no token', 'belfry queue list --server http://127.0.0.1:CLOSED'],
    [6, 'no token for another machine', 'belfry queue list --server https://belfry.example.org'],
    [5, 'a server that is not there', 'BELFRY_TOKEN=SHOWN belfry queue list --server http://127.0.0.1:CLOSED'],
    [
      5,
      'the same in the environment, as JSON',
      'BELFRY_TOKEN=SHOWN BELFRY_SERVER=http://127.0.0.1:CLOSED belfry doctor --json',
    ],
    [2, 'a worker at a server', 'belfry up --server http://127.0.0.1:4747'],
    [2, 'a worker beside a server in the environment', 'BELFRY_SERVER=http://127.0.0.1:4747 belfry up'],
    [2, 'a model at a server', 'belfry mcp --server http://127.0.0.1:4747'],
    [2, 'a file at a server', 'belfry apply --server http://127.0.0.1:4747'],
    [2, 'a trust at a server', 'belfry trust --server http://127.0.0.1:4747'],
    [2, 'a name that is missing', 'BELFRY_TOKEN=SHOWN belfry schedule pause --server http://127.0.0.1:CLOSED'],
  ],
}
