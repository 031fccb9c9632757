-- SELECT of all rows of the table, again and again.
function thread_init()
  connection = sysbench.sql.driver():connect()
end

function event()
  connection:query("SELECT id, k, c, pad FROM sbtest1")
end

function thread_done()
  connection:disconnect()
end
