-- Connect, one SELECT, quit.
function thread_init()
  driver = sysbench.sql.driver()
end

function event()
  local connection = driver:connect()
  connection:query("SELECT c FROM sbtest1 WHERE id=" .. sysbench.rand.default(1, 10000))
  connection:disconnect()
end
