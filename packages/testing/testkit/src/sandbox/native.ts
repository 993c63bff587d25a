// A program of system calls that no shell makes, as source: each prints what the kernel answered, 0 or the negative error number.

export const NATIVE_SOURCE = String.raw`
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static void answer(long result) { printf("%ld\n", result < 0 ? -(long)errno : 0L); }

static struct sockaddr_un named(const char *path) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return address;
}

int main(int count, char **args) {
  const char *what = args[1], *more = count > 2 ? args[2] : "";
  struct sockaddr_un address = named(more);
  if (!strcmp(what, "unix")) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    answer(fd < 0 ? fd : connect(fd, (void *)&address, sizeof address));
  } else if (!strcmp(what, "abstract")) {
    struct sockaddr_un hidden = { .sun_family = AF_UNIX };
    strncpy(hidden.sun_path + 1, more, 100);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    answer(fd < 0 ? fd : connect(fd, (void *)&hidden, sizeof(sa_family_t) + 1 + strlen(more)));
  } else if (!strcmp(what, "datagram")) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0) return answer(-1), 0;
    if (connect(ends[0], (void *)&address, sizeof address) < 0) return answer(-1), 0;
    answer(send(ends[0], "hello", 5, 0));
  } else if (!strcmp(what, "receive")) {
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    char got[64];
    bind(fd, (void *)&address, sizeof address);
    puts("ready"); fflush(stdout);
    long size = recv(fd, got, sizeof got, 0);
    printf("got %.*s\n", (int)size, got);
  } else if (!strcmp(what, "pair")) {
    int ends[2];
    answer(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  } else if (!strcmp(what, "vsock")) answer(socket(40, SOCK_STREAM, 0));
  else if (!strcmp(what, "packet")) answer(socket(AF_PACKET, SOCK_RAW, 0));
  else if (!strcmp(what, "iouring")) { char room[256] = {0}; answer(syscall(425, 4, room)); }
  else if (!strcmp(what, "key")) answer(syscall(SYS_add_key, "user", more, "x", 1L, -4L));
  else if (!strcmp(what, "bpf")) answer(syscall(SYS_bpf, 0, 0, 0));
  else if (!strcmp(what, "perf")) { char room[256] = {0}; answer(syscall(SYS_perf_event_open, room, 0, -1, -1, 0)); }
  else if (!strcmp(what, "userfaultfd")) answer(syscall(SYS_userfaultfd, 1));
  else if (!strcmp(what, "mount")) answer(mount("none", "/tmp", "tmpfs", 0, 0));
  else if (!strcmp(what, "umount")) answer(umount2(more, MNT_DETACH));
  else if (!strcmp(what, "userns")) answer(unshare(CLONE_NEWUSER));
  else if (!strcmp(what, "shm-make")) answer(shmget(atoi(more), 4096, IPC_CREAT | 0666));
  else if (!strcmp(what, "shm-drop")) answer(shmctl(shmget(atoi(more), 0, 0), IPC_RMID, 0));
  else if (!strcmp(what, "shm")) answer(shmget(atoi(more), 0, 0));
  else if (!strcmp(what, "type")) answer(ioctl(0, TIOCSTI, "x"));
#ifdef __x86_64__
  else if (!strcmp(what, "x32")) answer(syscall(0x40000000 | SYS_socket, AF_UNIX, SOCK_STREAM, 0));
  else if (!strcmp(what, "int80")) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(359L), "b"(1L), "c"(1L), "d"(0L) : "memory");
    printf("%ld\n", result);
  }
#else
  else puts("-38");
#endif
  return 0;
}
`

export const EPERM = '-1\n'
export const ENOSYS = '-38\n'
