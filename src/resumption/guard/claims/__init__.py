"""Who may execute a thread, and who consumed which of its interrupts: leases, fences, claims and deliveries.

Nothing here knows a framework. Operations are generators of statements, as the ledger's are
(`resumption.guard.stores.protocol`), so that they run on whatever connection, transaction or event loop a framework's
storage has.
"""
