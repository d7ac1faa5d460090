/* forerun-simgrid PLATFORM PROGRAM RESULT: one program in SimGrid, at flow level.
 *
 * PROGRAM has one activity a line, numbered from 0:
 *     x HOST SECONDS SHARE  N AFTER...     HOST computes SECONDS with SHARE of one core
 *     m FROM TO BYTES       N AFTER...     a message
 * where AFTER are N earlier activities that must be over; HOST, FROM, TO count ranks.
 * RESULT gets "start end" of each activity in that order, then "energy_J" of each host.
 *
 * In C++, since dependencies between activities exist only there; and a program of its own, since
 * SimGrid holds one simulation a process.  All that is known of SimGrid is in this file. */
#include <simgrid/plugins/energy.h>
#include <xbt/log.h>

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
    sg4::ExecPtr exec; /* one of the two */
    sg4::CommPtr comm;
    sg4::Host *from = nullptr, *to = nullptr;
};

sg4::ActivityPtr base(const Activity &a) {
    return a.exec ? sg4::ActivityPtr(a.exec) : sg4::ActivityPtr(a.comm);
}

/* Activity::add_successor is protected in 3.32; the typed ones are not. */
void precede(const Activity &before, const Activity &after) {
    if (before.exec)
        before.exec->add_successor(base(after));
    else
        before.comm->add_successor(base(after));
}

[[noreturn]] void fail(const std::string &why) {
    std::cerr << "forerun-simgrid: " << why << "\n";
    std::exit(1);
}

sg4::Host *host(long rank) {
    sg4::Host *h = sg4::Host::by_name_or_null("rank" + std::to_string(rank));
    if (!h) fail("no host rank" + std::to_string(rank));
    return h;
}

std::vector<Activity> read(const char *path) {
    std::ifstream in(path);
    std::vector<Activity> all;
    char kind;
    while (in >> kind) {
        Activity a;
        long n = 0, after;
        if (kind == 'x') {
            long rank;
            double seconds, share;
            in >> rank >> seconds >> share;
            sg4::Host *h = host(rank);
            a.exec = sg4::Exec::init();
            a.exec->set_flops_amount(seconds * share * h->get_speed());
            a.exec->set_bound(share * h->get_speed());
            a.exec->set_host(h);
        } else if (kind == 'm') {
            long from, to;
            double bytes;
            in >> from >> to >> bytes;
            a.comm = sg4::Comm::sendto_init();
            a.comm->set_payload_size(static_cast<uint64_t>(bytes + 0.5));
            a.from = host(from);
            a.to = host(to);
        } else
            fail("a line begins with neither x nor m");
        in >> n;
        for (long k = 0; k < n && in >> after; k++) {
            if (after < 0 || after >= static_cast<long>(all.size()))
                fail("waits for a later one");
            precede(all[static_cast<size_t>(after)], a);
        }
        if (!in) fail("the program ends in the middle of a line");
        all.push_back(a);
    }
    return all;
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
    sg_host_energy_plugin_init();
    engine.load_platform(argv[1]);
    std::vector<Activity> all = read(argv[2]);
    /* Its second end starts a message, so they come when all that it waits for is known; started
     * once more, it would send its bytes twice. */
    for (Activity &a : all) {
        if (a.comm) {
            a.comm->set_source(a.from);
            a.comm->set_destination(a.to);
        }
        if (base(a)->get_state() == sg4::Activity::State::INITED) base(a)->vetoable_start();
    }
    engine.run();
    FILE *out = std::fopen(argv[3], "w");
    if (!out) fail(std::string(argv[3]) + " cannot be written");
    for (const Activity &a : all) {
        if (base(a)->get_state() != sg4::Activity::State::FINISHED)
            fail("an activity never ended: the program waits for itself");
        std::fprintf(out, "%.17g %.17g\n", base(a)->get_start_time(),
                     base(a)->get_finish_time());
    }
    for (size_t r = 0; r < engine.get_host_count(); r++)
        std::fprintf(out, "%.17g\n",
                     host(static_cast<long>(r))->get_property("wattage_per_state")
                         ? sg_host_get_consumed_energy(host(static_cast<long>(r)))
                         : 0.0);
    return std::fclose(out) == 0 ? 0 : 1;
}
