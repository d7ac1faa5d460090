/* Power logs of others, each format by hand: what counts is from the first to the last reading above the middle
 * of each device's. */
#include "trust/runs/watts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "tests/cmocka.h"
#include "tests/wraps.h"
#include "trust/runs/bursts.h"

static struct fr_watts read_log(const char *text) {
    struct fr_watts w;
    struct fr_error err = {.status = FR_OK};
    FR_TRUE(fr_watts_read(text, strlen(text), "log", &w, &err) == FR_OK, "%s: %s", err.where,
            err.detail);
    return w;
}

static void gpus_by_index_add_up(void **state) {
    (void)state;
    /* GPU 0: 70 | 300 280 320 | 70, GPU 1: 60 | 200 60 220 | 60: waiting between steps counts */
    struct fr_watts w = read_log("timestamp, index, power.draw [W]\n"
                                 "2024/05/10 11:38:02.1, 0, 70.00 W\n"
                                 "2024/05/10 11:38:02.1, 1, 60.00 W\n"
                                 "2024/05/10 11:38:03.1, 0, 300.00 W\n"
                                 "2024/05/10 11:38:03.1, 1, 200.00 W\n"
                                 "2024/05/10 11:38:04.1, 0, 280.00 W\n"
                                 "2024/05/10 11:38:04.1, 1, 60.00 W\n"
                                 "2024/05/10 11:38:05.1, 0, 320.00 W\r\n"
                                 "2024/05/10 11:38:05.1, 1, 220.00 W\n"
                                 "2024/05/10 11:38:06.1, 0, 70.00 W\n"
                                 "2024/05/10 11:38:06.1, 1, 60.00 W\n"
                                 "2024/05/10 11:38:07.1, 0, [N/A]\n");
    assert_string_equal(w.format->name, "nvidia-smi");
    assert_string_equal(w.format->measured_at, "device");
    FR_NEAR(w.power_W, 300 + 160, 1e-12);
    assert_int_equal(w.devices, 2);
    assert_int_equal(w.readings, 10);
    assert_int_equal(w.used, 6);
    /* one GPU, no units, columns in another order */
    FR_NEAR(read_log("power.draw [W], timestamp\n100, a\n50, b\n90, c\n").power_W, 80, 1e-12);
}

static void dcgm_names_its_columns(void **state) {
    (void)state;
    struct fr_watts w = read_log("#Entity   TMPTR   POWER\nID        C       W\n"
                                 "GPU 0     38      200.5\nGPU 1     39      100\n"
                                 "#Entity   TMPTR   POWER\nID        C       W\n"
                                 "GPU 0     40      201.5\nGPU 1     40      N/A\n");
    assert_string_equal(w.format->name, "dcgm");
    FR_NEAR(w.power_W, 201.5 + 100, 1e-12); /* 200.5 lies below the middle of its two */
    assert_int_equal(w.readings, 3);
}

static void a_node_at_the_plug(void **state) {
    (void)state;
    struct fr_watts w =
        read_log("    Instantaneous power reading:                   220 Watts\n"
                 "    Minimum during sampling period:                  2 Watts\n"
                 "    Instantaneous power reading:                   240 Watts\n");
    assert_string_equal(w.format->measured_at, "plug");
    FR_NEAR(w.power_W, 240, 1e-12); /* 220 lies below the middle of the two */
    assert_int_equal(w.used, 1);
}

static void counters_by_interval(void **state) {
    (void)state;
    /* 50, 100 and 60 W of packages, 5, 5 and 10 of memory; cores are within the package */
    struct fr_watts w = read_log("     1.0,50.0,Joules,power/energy-pkg/,1000,100.00,,\n"
                                 "     1.0,5.0,Joules,power/energy-ram/,1000,100.00,,\n"
                                 "     3.0,200.0,Joules,power/energy-pkg/,1000,100.00,,\n"
                                 "     3.0,10.0,Joules,power/energy-ram/,1000,100.00,,\n"
                                 "     3.0,150.0,Joules,power/energy-cores/,1000,100.00,,\n"
                                 "     4.0,60.0,Joules,power/energy-pkg/,1000,100.00,,\n"
                                 "     4.0,10.0,Joules,power/energy-ram/,1000,100.00,,\n");
    assert_string_equal(w.format->name, "perf");
    FR_NEAR(w.power_W, 100 + 10, 1e-12);
    assert_int_equal(w.devices, 2);
}

static void what_tells_no_power_is_refused(void **state) {
    static const char *const texts[] = {
        "", "a,b,c\n", "timestamp, index\n1, 0\n",
        "timestamp, power.draw [W]\n1, -5 W\n2, oops\n3, 1e308 W\n4, nan W\n",
        "timestamp,cpu_power,gpu_power\n1746763068,40,480\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_watts w;
        struct fr_error err = {.status = FR_OK};
        assert_int_equal(fr_watts_read(texts[i], strlen(texts[i]), "log", &w, &err),
                         FR_ERR_INPUT);
        assert_true(strstr(err.detail, "tells a power") || strstr(err.detail, "tell a power"));
    }
}

/* Each form that a meter prints, of GPU 0 at 300 W and GPU 1 at 200 W. */
static const struct {
    const char *what, *text, *format, *measured_at;
    double power_W;
    int devices;
} forms[] = {
    {"nvidia-smi CSV, no index",
     "timestamp, power.draw [W]\n2024/05/10 11:38:02.100, 300 W\n2024/05/10 11:38:02.100, 200 "
     "W\n"
     "2024/05/10 11:38:03.100, 300 W\n2024/05/10 11:38:03.100, 200 W\n"
     "2024/05/10 11:38:04.100, 300 W\n2024/05/10 11:38:04.100, 200 W\n",
     "nvidia-smi", "device", 500, 2},
    {"nvidia-smi CSV, no index, each at its millisecond",
     "timestamp, power.draw [W]\n2024/05/10 11:38:02.100, 300 W\n2024/05/10 11:38:02.104, 200 "
     "W\n"
     "2024/05/10 11:38:03.101, 300 W\n2024/05/10 11:38:03.105, 200 W\n"
     "2024/05/10 11:38:04.102, 300 W\n2024/05/10 11:38:04.107, 200 W\n"
     "2024/05/10 11:38:05.102, 300 W\n2024/05/10 11:38:05.107, 200 W\n",
     "nvidia-smi", "device", 500, 2},
    {"nvidia-smi dmon",
     "# gpu    pwr  gtemp  mtemp     sm\n# Idx      W      C      C      %\n"
     "    0    300     33      -      0\n    1    200     33      -      0\n",
     "nvidia-dmon", "device", 500, 2},
    {"nvidia-smi dmon -o DT",
     "#Date       Time        gpu    pwr  gtemp\n#YYYYMMDD   HH:MM:SS    Idx      W      C\n"
     " 20240510   11:38:02      0    300     33\n 20240510   11:38:02      1    200     33\n",
     "nvidia-dmon", "device", 500, 2},
    {"nvidia-smi -q",
     "Timestamp                                 : Fri May 10 11:38:02 2024\n"
     "GPU 00000000:0A:00.0\n    GPU Power Readings\n        Power Draw            : 300.00 W\n"
     "        Current Power Limit   : 700.00 W\nGPU 00000000:0B:00.0\n    GPU Power Readings\n"
     "        Average Power Draw    : 100.00 W\n        Instantaneous Power Draw : 200.00 W\n",
     "nvidia-query", "device", 500, 2},
    {"nvidia-smi",
     "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:0A:00.0 Off |                    "
     "0 |\n"
     "| N/A   35C    P0            300W /  700W |   70000MiB /  81559MiB |    100%      "
     "Default |\n"
     "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:0B:00.0 Off |                    "
     "0 |\n"
     "| N/A   35C    P0            200W /  700W |   70000MiB /  81559MiB |    100%      "
     "Default |\n",
     "nvidia-table", "device", 500, 2},
    {"dcgmi", "#Entity   POWER\nID        W\nGPU 0     300\nGPU 1     200\n", "dcgm", "device",
     500, 2},
    {"amd-smi --csv",
     "timestamp,gpu,socket_power,gfx_voltage\n1746763068,0,300,N/A\n1746763068,1,200,N/A\n",
     "amd-smi", "device", 500, 2},
    {"amd-smi monitor",
     "GPU  POWER   GPU_T   MEM_T\n  0  300 W   35 C    30 C\n  1  200 W   35 C    30 C\n",
     "amd-smi", "device", 500, 2},
    {"rocm-smi",
     "GPU[0]\t\t: Average Graphics Package Power (W): 300.0\n"
     "GPU[1]\t\t: Current Socket Graphics Package Power (W): 200.0\n",
     "rocm-smi", "device", 500, 2},
    {"rocm-smi, halves",
     "GPU[0]\t\t: Average Graphics Package Power (W): 500.0\n"
     "GPU[1]\t\t: Average Graphics Package Power (W): N/A\n",
     "rocm-smi", "device", 500, 1},
    {"rocm-smi --csv", "device,Average Graphics Package Power (W)\ncard0,300.0\ncard1,200.0\n",
     "rocm-smi", "device", 500, 2},
    {"rocm-smi, concise",
     "0  [0x74a1 : 0x00]  35.0C  300.0W  NPS1, SPX  131Mhz  900Mhz  0%  auto  750.0W  0%  0%\n"
     "1  [0x74a1 : 0x00]  35.0C  200.0W  NPS1, SPX  131Mhz  900Mhz  0%  auto  750.0W  0%  0%\n",
     "rocm-smi", "device", 500, 2},
    {"ipmitool sensor", "Pwr Consumption  | 500.000    | Watts      | ok    | na        | na\n",
     "ipmi", "plug", 500, 1},
    {"ipmitool sdr", "Pwr Consumption  | 77h | ok  |  7.1 | 500 Watts\n", "ipmi", "plug", 500,
     1},
    {"sensors",
     "amdgpu-pci-0300\nAdapter: PCI adapter\nPPT:         300.00 W  (cap = 560.00 W)\n\n"
     "amdgpu-pci-0400\nAdapter: PCI adapter\npower1:      200.00 W\n",
     "sensors", "device", 500, 2},
    {"nvsmi csv noheader",
     "2024/05/10 11:38:02.123, 0, 300.00 W\n2024/05/10 11:38:02.125, 1, 200.00 W\n2024/05/10 "
     "11:38:03.123, 0, 300.00 W\n2024/05/10 11:38:03.125, 1, 200.00 W\n",
     "nvidia-smi-noheader", "device", 500, 2},
    {"nvsmi csv noheader name col",
     "2024/05/10 11:38:02.123, NVIDIA H100, 00000000:0A:00.0, 300.00 W, 100 %\n2024/05/10 "
     "11:38:02.125, NVIDIA H100, 00000000:0B:00.0, 200.00 W, 100 %\n",
     "nvidia-smi-noheader", "device", 500, 2},
    {"nvsmi host column",
     "timestamp, hostname, index, power.draw [W]\n2024/05/10 11:38:02.123, n0, 0, 300.00 "
     "W\n2024/05/10 11:38:02.123, n0, 1, 200.00 W\n2024/05/10 11:38:02.123, n1, 0, 300.00 "
     "W\n2024/05/10 11:38:02.123, n1, 1, 200.00 W\n",
     "nvidia-smi", "device", 1000, 4},
    {"table host + gpu",
     "timestamp,host,gpu,watts\n1746763068,n0,0,300\n1746763068,n0,1,200\n1746763068,n1,0,"
     "300\n1746763068,n1,1,200\n",
     "table", NULL, 1000, 4},
    {"table wide one column a gpu",
     "timestamp,gpu0_power,gpu1_power\n1746763068,300,200\n1746763069,300,200\n", "table", NULL,
     500, 2},
    {"table wide W", "time,GPU 0 (W),GPU 1 (W)\n1746763068,300,200\n1746763069,300,200\n",
     "table", NULL, 500, 2},
    {"table power in mW", "timestamp,power_mW\n1746763068,300000\n1746763069,300000\n", "table",
     NULL, 300, 1},
    {"table Power [kW]", "Time,Power [kW]\n1746763068,5.2\n1746763069,5.2\n", "table", NULL,
     5200, 1},
    {"table comma decimal semicolon", "time;watts\n1746763068;520,5\n1746763069;520,5\n",
     "table", NULL, 520.5, 1},
    {"table PowerConsumedWatts",
     "timestamp,PowerConsumedWatts\n2026-05-09T03:57:48Z,520\n2026-05-09T03:57:49Z,520\n",
     "table", NULL, 520, 1},
    {"table pdu tsv",
     "Date Time\tOutlet\tActive Power (W)\n2026-05-09 03:57:48\t1\t520\n2026-05-09 "
     "03:57:49\t1\t520\n",
     "table", NULL, 520, 1},
    {"ipmi freeipmi",
     "Current Power                        : 420 Watts\nMinimum Power over sampling duration : "
     "42 watts\nMaximum Power over sampling duration : 1200 watts\nAverage Power over sampling "
     "duration : 400 watts\nTime Stamp                           : 05/09/2026 - "
     "03:57:48\nStatistics reporting time period     : 1000 milliseconds\nPower Measurement    "
     "                : Active\n",
     "ipmi", "plug", 420, 1},
    {"ipmi sensor PSU inputs sum",
     "PSU1 Input Power | 420.000    | Watts      | ok    | na        | na\nPSU2 Input Power | "
     "420.000    | Watts      | ok    | na        | na\n",
     "supplies", "plug", 840, 2},
    {"ipmi sdr psu",
     "PS1 Input Power  | 420 Watts         | ok\nPS2 Input Power  | 420 Watts         | ok\n",
     "supplies", "plug", 840, 2},
    {"ipmi Power Meter", "Power Meter      | 840 Watts         | ok\n", "ipmi", "plug", 840, 1},
    {"redfish json",
     "{\"PowerControl\":[{\"PowerConsumedWatts\":840,\"PowerMetrics\":{"
     "\"AverageConsumedWatts\":800}}]}\n{\"PowerControl\":[{\"PowerConsumedWatts\":840,"
     "\"PowerMetrics\":{\"AverageConsumedWatts\":800}}]}\n",
     "ipmi", "plug", 840, 1},
    {"dcgmi old header '# Entity'",
     "# Entity  POWER\n      Id  W\n    GPU 0  300.000\n    GPU 1  200.000\n", "dcgm", "device",
     500, 2},
    {"dcgmi PWR",
     "# Entity      GPUTL       PWR\n#      Id\n    GPU 0        99   300.0\n    GPU 1        "
     "99   200.0\n",
     "dcgm", "device", 500, 2},
    {"dcgm exporter prometheus",
     "# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).\n# TYPE DCGM_FI_DEV_POWER_USAGE "
     "gauge\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-1\",device=\"nvidia0\",modelName="
     "\"NVIDIA H100\",Hostname=\"n0\"} "
     "300.0\nDCGM_FI_DEV_POWER_USAGE{gpu=\"1\",UUID=\"GPU-2\",device=\"nvidia1\",modelName="
     "\"NVIDIA H100\",Hostname=\"n0\"} 200.0\n",
     "dcgm", "device", 500, 2},
    {"dmon csv", "#gpu, pwr, gtemp\n#Idx, W, C\n0, 300, 33\n1, 200, 33\n", "nvidia-dmon",
     "device", 500, 2},
    {"nvsmi -q gh200 module",
     "GPU 00000000:0A:00.0\n    GPU Power Readings\n        Power Draw                        "
     ": 300.00 W\n        Current Power Limit               : 700.00 W\n    GPU Memory Power "
     "Readings\n        Power Draw                        : N/A\n    Module Power Readings\n   "
     "     Power Draw                        : 520.00 W\n",
     "nvidia-query", "device", 300, 1},
    {"gpustat",
     "[0] NVIDIA H100 | 45'C, 100 % | 70000 / 81559 MB | 300 / 700 W\n[1] NVIDIA H100 | 45'C, "
     "100 % | 70000 / 81559 MB | 200 / 700 W\n",
     "gpustat", "device", 500, 2},
    {"amd-smi metric text",
     "GPU: 0\n    POWER:\n        SOCKET_POWER: 300 W\n        GFX_VOLTAGE: N/A\nGPU: 1\n    "
     "POWER:\n        SOCKET_POWER: 200 W\n",
     "amd-smi", "device", 500, 2},
    {"xpu-smi dump",
     "Timestamp, DeviceId, GPU Power (W)\n03:57:48.000,    0, 300.00\n03:57:48.000,    1, "
     "200.00\n",
     "table", NULL, 500, 2},
    {"hl-smi long",
     "Fri May  9 03:57:48 UTC 2026, AIP 0, 300 W\nFri May  9 03:57:48 UTC 2026, AIP 1, 200 W\n",
     "nvidia-smi-noheader", "device", 500, 2},
    {"cray pm_counters cat all",
     "/sys/cray/pm_counters/power:520 W 1746763068123456 us\n/sys/cray/pm_counters/power:520 W "
     "1746763069123456 us\n",
     "pm_counters", "node", 520, 1},
    {"json lines",
     "{\"timestamp\": 1746763068.1, \"gpu\": 0, \"power_W\": 300}\n{\"timestamp\": "
     "1746763068.1, \"gpu\": 1, \"power_W\": 200}\n",
     "json-lines", NULL, 500, 2},
    {"amd-smi metric --json",
     "[\n    {\n        \"gpu\": 0,\n        \"power\": {\n            \"socket_power\": {\n"
     "                \"value\": 300,\n                \"unit\": \"W\"\n            },\n"
     "            \"gfx_voltage\": {\n                \"value\": 900\n            }\n        "
     "}\n"
     "    },\n    {\n        \"gpu\": 1,\n        \"power\": {\n            \"socket_power\": "
     "{\n"
     "                \"value\": 200,\n                \"unit\": \"W\"\n            }\n        "
     "}\n"
     "    }\n]\n",
     "amd-smi-json", "device", 500, 2},
    {"amd-smi monitor --json, a line",
     "{\"gpu_data\": [{\"timestamp\": 1746763068, \"gpu\": 0, \"power_usage\": {\"value\": "
     "300, "
     "\"unit\": \"W\"}}, {\"timestamp\": 1746763068, \"gpu\": 1, \"power_usage\": {\"value\": "
     "200, "
     "\"unit\": \"W\"}}]}\n",
     "amd-smi-json", "device", 500, 2},
    {"amd-smi, earlier JSON",
     "[{\"gpu\": 0, \"power\": {\"average_socket_power\": \"300 W\"}}, {\"gpu\": 1, \"power\": "
     "{\"average_socket_power\": \"200 W\"}}]\n",
     "amd-smi-json", "device", 500, 2},
    {"rocm-smi --json",
     "{\"card0\": {\"Current Socket Graphics Package Power (W)\": \"300.0\", \"Max Graphics "
     "Package Power (W)\": \"750.0\"}, \"card1\": {\"Average Graphics Package Power (W)\": "
     "\"200.0\"}}\n",
     "amd-smi-json", "device", 500, 2},
    {"nvidia-smi -q -x",
     "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n\t<timestamp>Fri May 10 11:38:02 "
     "2024</timestamp>\n\t<gpu id=\"00000000:0A:00.0\">\n\t\t<gpu_power_readings>\n\t\t\t"
     "<average_power_draw>250.00 W</average_power_draw>\n\t\t\t<instant_power_draw>300.00 "
     "W</instant_power_draw>\n\t\t</"
     "gpu_power_readings>\n\t\t<gpu_memory_power_readings>\n\t\t\t"
     "<power_draw>90.00 W</power_draw>\n\t\t</gpu_memory_power_readings>\n\t</gpu>\n\t<gpu "
     "id=\"00000000:0B:00.0\">\n\t\t<power_readings>\n\t\t\t<power_draw>200.00 "
     "W</power_draw>\n\t\t</power_readings>\n\t\t<module_power_readings>\n\t\t\t<power_draw>N/A"
     "</power_draw>\n\t\t</module_power_readings>\n\t</gpu>\n</nvidia_smi_log>\n",
     "nvidia-xml", "device", 500, 2},
    {"nvidia-smi stats",
     "0, pwrDraw , 1746763068000000, 300\n1, pwrDraw , 1746763068000001, 200\n",
     "nvidia-smi-noheader", "device", 500, 2},
    {"wandb's system metrics",
     "_timestamp,system.gpu.0.powerWatts,system.gpu.1.powerWatts,system.gpu.0.powerPercent\n"
     "1746763068,300,200,43\n1746763069,300,200,43\n",
     "table", NULL, 500, 2},
    {"wandb's events",
     "{\"_timestamp\": 1746763068, \"gpu.0.powerWatts\": 300, \"gpu.1.powerWatts\": 200, "
     "\"gpu.0.powerPercent\": 43}\n",
     "json-lines", NULL, 500, 2},
    {"a table", "time,watts\n1746763068,500\n1746763069,500\n", "table", NULL, 500, 1},
    {"a table of nodes", "epoch;node;power_W\n1746763068;a;300\n1746763068;b;200\n", "table",
     NULL, 500, 2},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void expect_form(int i, const struct fr_text *text, const char *what) {
    struct fr_watts w;
    struct fr_error err = {.status = FR_OK};
    FR_TRUE(fr_watts_read(fr_text_get(text), text->length, "log", &w, &err) == FR_OK,
            "%s, %s: %s", forms[i].what, what, err.detail);
    FR_TRUE(strcmp(w.format->name, forms[i].format) == 0 && w.devices == forms[i].devices &&
                fabs(w.power_W - forms[i].power_W) < 1e-9,
            "%s, %s: %s, %d devices, %g W", forms[i].what, what, w.format->name, w.devices,
            w.power_W);
    const char *at = forms[i].measured_at;
    FR_TRUE(at ? w.format->measured_at && !strcmp(w.format->measured_at, at)
               : !w.format->measured_at,
            "%s: metered at another place", forms[i].what);
}

/* Each form, as it is and as launchers and collectors hand it on. */
static void every_form_by_itself_and_wrapped(void **state) {
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        struct fr_text plain = {0};
        fr_text_addf(&plain, "%s", forms[i].text);
        expect_form(i, &plain, "plain");
        for (int k = 0; k < WRAPS; k++) {
            struct fr_text text = {0};
            const struct wrap *wrap = &wraps[k];
            /* Times are left where they are; few lines tell no prefix that all of a file have. */
            if (wrap->whole || strstr(wrap->before, "03:57") ||
                strstr(wrap->before, "04:28:53") || strstr(wrap->before, "00:00:12") ||
                strstr(wrap->before, "17467") || strstr(wrap->before, "12.345678"))
                continue;
            wrap_lines(forms[i].text, &wrap, 1, &text);
            expect_form(i, &text, wrap->what);
            fr_text_free(&text);
        }
        fr_text_free(&plain);
    }
}

/* Times of a collector, and words of one that is not known, before lines that have columns of their own. */
static void words_before_lines_go(void **state) {
    static const char *const befores[] = {
        "2026-05-09T03:57:4%dZ ",
        "May  9 03:57:4%d n0 m[1]: ", "INFO:power:", "[monitor-x2x4f] "};
    (void)state;
    for (int i = 0; i < FORMS; i++)
        for (size_t k = 0; k < sizeof befores / sizeof *befores; k++) {
            struct fr_text text = {0};
            struct fr_watts w;
            struct fr_error err = {.status = FR_OK};
            int second = 0;
            bool csv = strchr(forms[i].text, ',') && !strstr(forms[i].text, "GPU");
            if (csv && k < 2) continue; /* which of two times is the meter's, nobody says */
            for (const char *at = forms[i].text; *at; second++) {
                size_t n = strcspn(at, "\n");
                char before[64];
                snprintf(before, sizeof before, befores[k], second / 2 % 10);
                fr_text_addf(&text, "%s%.*s\n", before, (int)n, at);
                at += n + (at[n] == '\n');
            }
            fr_status status = fr_watts_read(fr_text_get(&text), text.length, "log", &w, &err);
            FR_TRUE(status == FR_ERR_INPUT || (w.devices == forms[i].devices &&
                                               fabs(w.power_W - forms[i].power_W) < 1e-9),
                    "%s, %s: %d devices, %g W", forms[i].what, befores[k], w.devices,
                    w.power_W);
            FR_TRUE(status == FR_OK || k < 2 || strstr(forms[i].what, "gpustat") ||
                        strstr(err.detail, "no column says"),
                    "%s, %s: %s", forms[i].what, befores[k], err.detail);
            fr_text_free(&text);
        }
}

static void several_nodes_in_one_file(void **state) {
    (void)state;
    /* srun -l nvidia-smi: index 0 of two nodes */
    struct fr_watts w =
        read_log("0: timestamp, index, power.draw [W]\n1: timestamp, index, power.draw [W]\n"
                 "0: 2024/05/10 11:38:02.1, 0, 300 W\n1: 2024/05/10 11:38:02.1, 0, 200 W\n");
    assert_int_equal(w.devices, 2);
    FR_NEAR(w.power_W, 500, 1e-12);
    /* cat node_0.csv node_1.csv, with a column of devices and without; then one that went on after a stop */
    static const char one[] =
        "timestamp, index, power.draw [W]\n2024/05/10 11:38:02.1, 0, 300 W\n"
        "2024/05/10 11:38:03.1, 0, 300 W\n",
                      other[] = "timestamp, power.draw [W]\n2024/05/10 11:38:02.1, 300 W\n"
                                "2024/05/10 11:38:03.1, 300 W\n2024/05/10 11:38:04.1, 300 W\n",
                      later[] =
                          "timestamp, index, power.draw [W]\n2024/05/10 11:39:02.1, 0, 300 W\n";
    const char *const files[][2] = {{one, one}, {other, other}, {one, later}};
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", files[i][0], files[i][1]);
        w = read_log(text);
        assert_int_equal(w.devices, i < 2 ? 2 : 1);
        FR_NEAR(w.power_W, i < 2 ? 600 : 300, 1e-12);
    }
}

static void what_cannot_be_known_is_refused(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"power.draw [W]\n300 W\n200 W\n", "no column says the device"},
        {"timestamp, power.draw [W]\n2024/05/10 11:38:02, 1 W\n2024/05/10 11:38:02, 1 W\n"
         "2024/05/10 11:38:03, 1 W\n2024/05/10 11:38:04, 1 W\n2024/05/10 11:38:04, 1 W\n",
         "no column says the device"},
        {"timestamp, index, power.draw [W]\n2024/05/10 11:38:02, 0, 1 W\n"
         "2024/05/10 11:38:02, 1, [N/A]\n",
         "device \"1\" says no power"},
        {"timestamp, index, power.draw [W]\n2024/05/10 11:38:02, 0, [N/A]\n", "say N/A"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_watts w;
        struct fr_error err = {.status = FR_OK};
        assert_int_equal(fr_watts_read(rows[i].text, strlen(rows[i].text), "log", &w, &err),
                         FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, rows[i].says), "%s: \"%s\"", rows[i].says, err.detail);
    }
}

/* n devices read every s seconds, apart by up to j seconds: always n. */
static void bursts_are_devices(void **state) {
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < 400; i++) {
        int devices = 1 + (int)(fr_random_next(&random) % 16), times = 5 + i % 20,
            cut = (int)(fr_random_next(&random) % (uint64_t)devices), n = 0;
        double period_s = i % 3 ? 1 : 0.1, within_s = i % 2 ? 0.01 * period_s / devices : 0,
               time_s[16 * 25];
        int device[16 * 25];
        for (int t = 0; t < times; t++)
            for (int d = 0; d < devices; d++) time_s[n++] = 1e9 + t * period_s + d * within_s;
        int got = fr_bursts(time_s + cut, n - cut, device);
        FR_TRUE(got == devices, "%d devices, %d times, %d cut, every %g s, apart %g s: %d",
                devices, times, cut, period_s, within_s, got);
        for (int k = 0; k < n - cut; k++)
            assert_true(device[k] == (k + cut) % devices || (device[k] == -1 && k < devices));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gpus_by_index_add_up),
                                       cmocka_unit_test(dcgm_names_its_columns),
                                       cmocka_unit_test(every_form_by_itself_and_wrapped),
                                       cmocka_unit_test(words_before_lines_go),
                                       cmocka_unit_test(several_nodes_in_one_file),
                                       cmocka_unit_test(what_cannot_be_known_is_refused),
                                       cmocka_unit_test(bursts_are_devices),
                                       cmocka_unit_test(a_node_at_the_plug),
                                       cmocka_unit_test(counters_by_interval),
                                       cmocka_unit_test(what_tells_no_power_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
