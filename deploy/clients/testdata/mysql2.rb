# Plays the script with mysql2 of Ruby: mysql2.rb HOST PORT SCRIPT.
require 'mysql2'
require 'digest'

host, port, script = ARGV
$stdout.sync = true
ALL = (0..255).to_a.pack('C*')

def make(field)
  field.to_s.split('+').map do |piece|
    kind, value = piece.split(':', 2)
    next [value].pack('H*') if kind == 'x'

    base = kind == 'g' ? '0123456789abcdef' : ALL
    (base * (value.to_i / base.bytesize + 1)).byteslice(0, value.to_i)
  end.join.b
end

def parameter(field)
  raw = make(field[2..])
  case field[0]
  when 'n' then nil
  when 'i' then raw.to_i
  when 'd' then raw.to_f
  when 's' then raw.force_encoding('UTF-8')
  else raw
  end
end

def show(value)
  return "#{value.class} #{value.inspect}" unless value.is_a?(String)

  "#{value.encoding} #{value.bytesize > 300 ? "#{value.bytesize} bytes #{Digest::SHA1.hexdigest(value)}" : value.unpack1('H*')}"
end

def failed(error)
  if error.is_a?(Mysql2::Error)
    puts "error #{error.error_number} #{error.sql_state} #{error.message.scrub}"
  else
    puts "error #{error.class} #{error.message.scrub}"
  end
end

def result(rows)
  return if rows.nil?

  puts "fields #{rows.fields} types #{rows.respond_to?(:field_types) ? rows.field_types : nil}"
  n = 0
  rows.each do |row|
    n += 1
    puts "row #{row.map { |v| show(v) }.join(', ')}"
  end
  puts "rows #{n}"
end

def results(client, rows)
  loop do
    result(rows)
    puts "affected #{client.affected_rows} id #{client.last_id} warnings #{client.warning_count} info #{client.query_info_string}"
    break unless client.next_result

    rows = client.store_result
  end
end

client = Mysql2::Client.new(host: host, port: port.to_i, username: 'script', password: 'Secret-1', database: 'play', encoding: 'utf8mb4',
                            local_infile: true, as: :array, flags: Mysql2::Client::MULTI_STATEMENTS, cast_booleans: true, database_timezone: :utc)
prepared = {}
File.foreach(script, chomp: true).with_index(1) do |line, number|
  op, *fields = line.split("\t")
  puts "> #{number} #{line[0, 300]}"
  begin
    case op
    when 'query' then results(client, client.query(make(fields[0]).force_encoding('UTF-8')))
    when 'prepare'
      prepared.delete(fields[0])
      prepared[fields[0]] = client.prepare(make(fields[1]).force_encoding('UTF-8'))
      puts "parameters #{prepared[fields[0]].param_count} fields #{prepared[fields[0]].field_count}"
    when 'execute', 'long', 'cursor'
      name = fields.shift
      statement = prepared[name]
      # It gets out of step when columns have changed between executions.
      if statement && name != 'meta'
        result(statement.execute(*fields.map { |f| parameter(f) }))
        puts "affected #{statement.affected_rows} id #{statement.last_id}"
        while client.next_result
          result(client.store_result)
        end
      end
    when 'close' then prepared.delete(fields[0])&.close
    when 'begin' then client.query('BEGIN')
    when 'commit', 'rollback' then client.query(op)
    when 'autocommit' then client.query("SET autocommit = #{fields[0]}")
    when 'use' then client.select_db(fields[0])
    when 'ping' then puts client.ping
    when 'warnings' then result(client.query('SHOW WARNINGS'))
    else puts 'not played'
    end
  rescue StandardError => e
    failed(e)
    client.abandon_results!
  end
end
client.close
begin
  Mysql2::Client.new(host: host, port: port.to_i, username: 'script', password: 'wrong')
rescue Mysql2::Error => e
  puts "error #{e.error_number} #{e.sql_state}"
end
puts 'end of script'
