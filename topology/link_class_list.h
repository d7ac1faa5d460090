/* Read more than once, so without guard.  Rows alone: name; share of the stated rate that collectives keep up; rate of a
 * reduction in the switch over the stated rate, 0: none; hop [us] by LL, LL128 and Simple; source.
 *
 * Inside a node hops are those of NCCL's own tuner (src/graph/tuning.cc, hwLat); between nodes there is one hop.  In the
 * switch: 475 GB/s on the bus of 8 H100 and H200 whose rings reach 364, 845 of 8 B200 whose rings reach 679 (nccl-tests,
 * two teams).  xgmi has NVLink's hops: 8 MI300X take 14 us at 1 KiB, and 60 us beyond the rate from 32 MiB on.  Between
 * nodes: 10 nodes of 1 and of 2 H100 keep 0.97 of the line, and take 10 and 5 us a rank.  HDR keeps 0.92.  RoCE keeps 0.88
 * (8 nodes of MI325X) to 0.95 (2 of A100).  Its 6 us a rank in nodes of 8 are assumed; InternEvo's rows fit 7.  Polaris
 * keeps 0.73 and takes 7.5 us a rank in nodes of 4.  An EDR adapter of 8 V100 keeps 0.57 as Megatron-LM used it and 0.65
 * as OneFlow did (DLPerf).  EFA is assumed: one point says 0.64 at least. */
FR_LINK_CLASS(nvlink, 1, 0, 0.6, 1.9, 3.4, "NCCL, src/graph/tuning.cc")
FR_LINK_CLASS(nvswitch, 1, 0.73, 0.6, 1.9, 3.4, "the same; nccl-tests on H100, H200, B200")
FR_LINK_CLASS(xgmi, 1, 0, 0.6, 1.9, 3.4, "the same; rccl-tests on MI300X")
FR_LINK_CLASS(pcie, 1, 0, 1, 2.5, 5.7, "NCCL, src/graph/tuning.cc")
FR_LINK_CLASS(infiniband, 0.95, 0, 10, 10, 10, "nccl-tests on H100 and A100")
FR_LINK_CLASS(roce, 0.91, 0, 24, 24, 24, "rccl-tests, nccl-tests; hop assumed")
FR_LINK_CLASS(efa, 0.8, 0, 24, 24, 24, "assumed, between Slingshot and InfiniBand")
FR_LINK_CLASS(slingshot, 0.73, 0, 20, 20, 20, "nccl-tests of ALCF Polaris")
FR_LINK_CLASS(edr, 0.61, 0, 10, 10, 10, "DLPerf, 2021; hop as InfiniBand")
