import { writeFileSync } from "node:fs"
import { join } from "node:path"

const source = String.raw`
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *offset;

__attribute__((constructor)) static void open_offset(void) {
  const char *path = getenv("WALL_CLOCK_OFFSET");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *place = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (place != MAP_FAILED) offset = place;
  close(file);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, id, now);
  int is_wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
  if (!failed && offset && is_wall) now->tv_sec += *offset;
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *place) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (place) *place = precise.tv_sec;
  return precise.tv_sec;
}
`

const compiler = Bun.which("cc")

/** Why no clock can be made to jump here, or null. */
export const noWallClock = compiler === null ? "needs a C compiler" : null

/**
 * The wall clock of a service and its children, and of nobody else: a library, loaded before the
 * C library, that adds what a file says to the time of day. Monotonic clocks, file times and what
 * the kernel itself stamps stay true.
 */
export class WallClock {
  readonly env: Record<string, string>
  readonly #offsetPath: string
  #seconds = 0

  constructor(folder: string) {
    const library = join(folder, "wall-clock.so")
    const sourcePath = join(folder, "wall-clock.c")
    writeFileSync(sourcePath, source)
    const command = [compiler ?? "cc", "-shared", "-fPIC", "-O2", "-o", library, sourcePath]
    const { exitCode, stderr } = Bun.spawnSync(command)
    if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`)
    this.#offsetPath = join(folder, "offset")
    writeFileSync(this.#offsetPath, new BigInt64Array([0n]))
    this.env = { LD_PRELOAD: library, WALL_CLOCK_OFFSET: this.#offsetPath }
  }

  /** Forward, or backward, from wherever it stands now. */
  jump(seconds: number): void {
    this.#seconds += seconds
    // In place: the service has the file mapped.
    writeFileSync(this.#offsetPath, new BigInt64Array([BigInt(this.#seconds)]), { flag: "r+" })
  }
}
