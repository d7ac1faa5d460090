#include "calibrate/measure/watch/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

enum { ADDRESSES_MAX = 8 };
static const double ANSWER_S = 2;

/* Send the rest of the last word.  @return false when the connection is gone */
static bool push(struct fr_wire *w) {
    const char *end = (const char *)&w->out + sizeof w->out;
    while (w->left > 0) {
        ssize_t n = send(w->fd, end - w->left, w->left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
        w->left -= (uint32_t)n;
    }
    return true;
}

bool fr_wire_say(struct fr_wire *w, const struct fr_watch_word *word) {
    if (w->fd < 0 || !push(w)) return false;
    if (w->left > 0) return true;
    w->out = *word;
    w->left = sizeof w->out;
    return push(w);
}

int fr_wire_hear(struct fr_wire *w, struct fr_watch_word *word) {
    if (w->fd < 0) return -1;
    while (w->got < sizeof w->in) {
        ssize_t n = recv(w->fd, (char *)&w->in + w->got, sizeof w->in - w->got, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
        if (n <= 0) return -1;
        w->got += (uint32_t)n;
    }
    *word = w->in;
    word->host[sizeof word->host - 1] = word->leash[sizeof word->leash - 1] = '\0';
    w->got = 0;
    return 1;
}

void fr_wire_close(struct fr_wire *w) {
    if (w->fd >= 0) close(w->fd);
    *w = (struct fr_wire){.fd = -1};
}

int fr_wire_listen(char address[FR_WATCH_ADDRESS_B], uint64_t *token, int backlog) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t length = sizeof any;
    struct ifaddrs *all = NULL;
    size_t used = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), n = 0;
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0 || listen(fd, backlog) != 0 ||
        getsockname(fd, (struct sockaddr *)&any, &length) != 0 ||
        getrandom(token, sizeof *token, 0) != sizeof *token || getifaddrs(&all) != 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    fr_line_addf(address, FR_WATCH_ADDRESS_B, &used, "%016" PRIx64 " %d", *token,
                 ntohs(any.sin_port));
    for (struct ifaddrs *i = all; i && n < ADDRESSES_MAX; i = i->ifa_next) {
        struct sockaddr_in at;
        char text[INET_ADDRSTRLEN];
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET) continue;
        memcpy(&at, i->ifa_addr, sizeof at);
        if (at.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) continue;
        inet_ntop(AF_INET, &at.sin_addr, text, sizeof text);
        fr_line_addf(address, FR_WATCH_ADDRESS_B, &used, " %s", text);
        n++;
    }
    freeifaddrs(all);
    return fd;
}

static int left_ms(double end_s) {
    double left_s = end_s - fr_now_s();
    return left_s > 0 ? (int)(left_s * 1e3) + 1 : 0;
}

static int try_connect(const char *host, int port, double end_s) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failed = 0;
    socklen_t length = sizeof failed;
    if (fd < 0) return -1;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1 ||
        (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 &&
         (errno != EINPROGRESS || poll(&ready, 1, left_ms(end_s)) != 1 ||
          getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length) != 0 || failed != 0))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Whoever else listens there does not know the token. */
static bool is_answered(struct fr_wire *w, const struct fr_watch_word *hello, double end_s) {
    struct fr_watch_word answer;
    if (!fr_wire_say(w, hello)) return false;
    for (int heard; (heard = fr_wire_hear(w, &answer)) <= 0;) {
        struct pollfd ready = {.fd = w->fd, .events = POLLIN};
        if (heard < 0 || poll(&ready, 1, left_ms(end_s)) != 1) return false;
    }
    return answer.token == hello->token;
}

bool fr_wire_connect(const char *address, bool here, struct fr_watch_word *hello,
                     struct fr_wire *wire) {
    int port = 0, at = 0;
    if (sscanf(address, "%" SCNx64 " %d%n", &hello->token, &port, &at) < 2) return false;
    for (const char *rest = address + at;; here = false) {
        char host[INET_ADDRSTRLEN] = "127.0.0.1";
        if (!here && sscanf(rest, " %15s%n", host, &at) < 1) return false;
        if (!here) rest += at;
        double end_s = fr_now_s() + ANSWER_S;
        *wire = (struct fr_wire){.fd = try_connect(host, port, end_s)};
        if (wire->fd >= 0 && is_answered(wire, hello, end_s)) return true;
        fr_wire_close(wire);
    }
}
