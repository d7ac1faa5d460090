/* forerun-simgrid PLATFORM PROGRAM RESULT: one program in SimGrid, at flow level.
 *
 * PROGRAM has one activity a line, numbered from 0:
 *     x HOST SECONDS SHARE  N AFTER...     HOST computes SECONDS with SHARE of one core
 *     m FROM TO BYTES       N AFTER...     a message
 * where AFTER are N earlier activities that must be over; HOST, FROM, TO count ranks.
 * RESULT gets "start end" of each activity in that order, then "energy_J" of each host, then how long
 * SimGrid ran, reading and writing left out, in seconds.
 *
 * Actors of a rank wait for what it does, as many as it does things at once; whoever ends something
 * starts what waited for it.  SimGrid's own dependencies between activities would all be started by
 * its maestro, which looks through everything it ever started when a message ends: minutes for a
 * hundred thousand activities.  Executions at a share of a core exist in C++ only; and it is a
 * program of its own, since SimGrid holds one simulation a process.  All that is known of SimGrid is in
 * this file. */
#include <simgrid/plugins/energy.h>
#include <xbt/log.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

struct Activity {
    char kind;
    long from, to; /* rank that computes, or that sends and that receives */
    double amount; /* seconds, or bytes */
    double share;  /* of a core */
    long waits = 0;
    std::vector<long> behind; /* what waits for it */
    double start_s = -1, end_s = -1;
};

struct Rank {
    sg4::Host *host = nullptr;
    std::vector<long> queue; /* what may start, in the order found */
    size_t next = 0, idle = 0;
    sg4::SemaphorePtr more = sg4::Semaphore::create(0); /* for those who are idle */
};

std::vector<Activity> activities;
std::vector<Rank> ranks;
size_t ended = 0;

[[noreturn]] void fail(const std::string &why) {
    std::cerr << "forerun-simgrid: " << why << "\n";
    std::exit(1);
}

void work(Rank &rank);

/* An idle actor of the rank takes it up, or a new one. */
void let(long id) {
    Rank &rank = ranks[static_cast<size_t>(activities[static_cast<size_t>(id)].from)];
    rank.queue.push_back(id);
    if (rank.idle > 0) {
        rank.idle--;
        rank.more->release();
    } else
        sg4::Actor::create("rank", rank.host, [&rank] { work(rank); });
}

void wait_for(const Activity &a) {
    sg4::Host *host = ranks[static_cast<size_t>(a.from)].host;
    if (a.kind == 'x') {
        sg4::ExecPtr exec = sg4::this_actor::exec_init(a.amount * a.share * host->get_speed());
        exec->set_bound(a.share * host->get_speed());
        exec->wait();
    } else {
        sg4::Comm::sendto(host, ranks[static_cast<size_t>(a.to)].host,
                          static_cast<uint64_t>(a.amount + 0.5));
    }
}

/* Of what may start now, one of this rank's is this actor's next. */
long end(Activity &a) {
    long mine = -1;
    a.end_s = sg4::Engine::get_clock();
    ended++;
    for (long id : a.behind) {
        Activity &b = activities[static_cast<size_t>(id)];
        if (--b.waits > 0) continue;
        if (mine < 0 && b.from == a.from)
            mine = id;
        else
            let(id);
    }
    return mine;
}

void work(Rank &rank) {
    while (true) {
        for (long id = rank.queue[rank.next++]; id >= 0;) {
            Activity &a = activities[static_cast<size_t>(id)];
            a.start_s = sg4::Engine::get_clock();
            wait_for(a);
            id = end(a);
        }
        if (ended == activities.size()) break;
        rank.idle++;
        rank.more->acquire();
        if (ended == activities.size()) return;
    }
    for (Rank &other : ranks) /* all is done: let the idle go */
        for (; other.idle > 0; other.idle--) other.more->release();
}

long known_rank(long rank) {
    if (rank < 0 || rank >= static_cast<long>(ranks.size()))
        fail("no host rank" + std::to_string(rank));
    return rank;
}

void read(const char *path) {
    std::ifstream in(path);
    Activity a;
    while (in >> a.kind) {
        long n = 0, after, id = static_cast<long>(activities.size());
        a.waits = 0;
        if (a.kind == 'x')
            in >> a.from >> a.amount >> a.share;
        else if (a.kind == 'm')
            in >> a.from >> a.to >> a.amount;
        else
            fail("a line begins with neither x nor m");
        known_rank(a.from);
        if (a.kind == 'm') known_rank(a.to);
        in >> n;
        for (long k = 0; k < n && in >> after; k++) {
            if (after < 0 || after >= id) fail("waits for a later one");
            activities[static_cast<size_t>(after)].behind.push_back(id);
            a.waits++;
        }
        if (!in) fail("the program ends in the middle of a line");
        activities.push_back(a);
    }
}

void write(const char *path, double took_s) {
    FILE *out = std::fopen(path, "w");
    if (!out) fail(std::string(path) + " cannot be written");
    for (const Activity &a : activities) {
        if (a.end_s < 0) fail("an activity never ended: the program waits for itself");
        std::fprintf(out, "%.17g %.17g\n", a.start_s, a.end_s);
    }
    for (const Rank &rank : ranks)
        std::fprintf(out, "%.17g\n",
                     rank.host->get_property("wattage_per_state")
                         ? sg_host_get_consumed_energy(rank.host)
                         : 0.0);
    std::fprintf(out, "%.9g\n", took_s);
    if (std::fclose(out) != 0) fail(std::string(path) + " cannot be written");
}

} // namespace

int main(int argc, char **argv) {
    sg4::Engine engine(&argc, argv);
    if (argc != 4) {
        std::cerr << "usage: forerun-simgrid PLATFORM.xml PROGRAM RESULT\n";
        return 2;
    }
    xbt_log_control_set("root.thres:error");
    xbt_log_control_set("host_energy.thres:error");
    /* Latency and bandwidth as they are in the platform; see topology/platform.h. */
    sg4::Engine::set_config("network/model:CM02");
    sg4::Engine::set_config("network/TCP-gamma:0");
    sg4::Engine::set_config("network/crosstraffic:no");
    sg4::Engine::set_config("surf/precision:1e-12");
    sg4::Engine::set_config("maxmin/precision:1e-9");
    sg4::Engine::set_config("contexts/stack-size:64");
    sg_host_energy_plugin_init();
    engine.load_platform(argv[1]);
    ranks = std::vector<Rank>(engine.get_host_count());
    for (size_t r = 0; r < ranks.size(); r++)
        ranks[r].host = sg4::Host::by_name("rank" + std::to_string(r));
    read(argv[2]);
    for (size_t id = 0; id < activities.size(); id++)
        if (activities[id].waits == 0) let(static_cast<long>(id));
    auto began = std::chrono::steady_clock::now();
    engine.run();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    write(argv[3], took.count());
    std::fflush(nullptr);
    std::_Exit(0); /* what is left needs no tearing down */
}
