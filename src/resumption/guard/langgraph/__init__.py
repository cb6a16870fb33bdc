"""The guard for LangGraph: four layers, each where its decision is taken (`docs/guard.md`).

| layer | modules | decides |
|---|---|---|
| graph | `graph`, `calls`, `admission`, `binding`, `forking` | who runs, with which decision |
| loop | `loops` | in which order writes become durable |
| saver | `savers`, `slots` | whether a write is stored |
| node | `nodes`, `validity` | whether a result may be written, and which effects are one |
"""
