import time
from collections import defaultdict
from tests.integration.sidecar.test_leak_oracle import *
from tests.integration.conftest import *
async def test_time(prepared):
    ex = Examiner(prepared.pool, prepared.token_id)
    t = defaultdict(list)
    c = time.process_time(); w=time.perf_counter()
    for world, case in prepared.cases():
        s=time.perf_counter()
        await ex.examine(world, case)
        t[case.leg].append(time.perf_counter()-s)
    print("cpu", time.process_time()-c, "wall", time.perf_counter()-w)
    for k,v in t.items():
        v.sort(); print(k, len(v), sum(v), v[len(v)//2], v[-10:])
