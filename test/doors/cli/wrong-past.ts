import type { WrongInputs } from './wrong-inputs-table.ts'

/** What is over, and what comes from elsewhere. */
export const wrongPast: WrongInputs = {
  about: 'Backfills and imports',
  cases: [
    [
      2,
      'a backfill of what is to come',
      'belfry schedule backfill nightly --from 2025-01-01T00:00Z --to 2099-01-01T00:00Z',
    ],
    [2, 'a backfill backwards', 'belfry schedule backfill nightly --from 2025-01-02T00:00Z --to 2025-01-01T00:00Z'],
    [2, 'a backfill without an end', 'belfry schedule backfill nightly --from 2025-01-01T00:00Z'],
    [2, 'a backfill of a fixed delay', 'belfry schedule backfill ping --from 2025-01-01T00:00Z --to 2025-01-02T00:00Z'],
    [2, 'a backfill of one instant', 'belfry schedule backfill once --from 2025-01-01T00:00Z --to 2025-01-02T00:00Z'],
    [3, 'a backfill of nothing', 'belfry schedule backfill nigtly --from 2025-01-01T00:00Z --to 2025-01-02T00:00Z'],
    [2, 'an import of nothing', 'belfry import cool-workflow'],
    [2, 'an import of a file that is not there', 'belfry import cool-workflow --queue-file nowhere.json'],
    [2, 'an import of a file that is cut', 'belfry import cool-workflow --queue-file broken.json'],
    [2, 'an import of another file', 'belfry import cool-workflow --queue-file policy.json --tasks-file list.json'],
    [2, 'an import by the name of the field', 'belfry import cool-workflow --queue broken.json'],
    [2, 'an import from nowhere', 'belfry import jenkins'],
    [2, 'a crontab that is missing', 'belfry import crontab'],
    [2, 'a crontab that is not there', 'belfry import crontab nowhere'],
    [2, 'a crontab in a zone that nobody knows', 'belfry import crontab notes.txt --zone Paris'],
    [2, 'a crontab that nobody pipes in', 'belfry import crontab -'],
    [4, 'a crontab with a name that is taken', "echo '0 2 * * * /opt/ping' | belfry import crontab -"],
  ],
}
