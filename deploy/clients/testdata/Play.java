// Plays the script with MariaDB Connector/J: java -cp JAR Play.java client|server HOST PORT SCRIPT. server: statements are
// prepared by the server, with cursors.

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.sql.Types;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

public class Play {
    static Connection db;
    static final Map<String, PreparedStatement> prepared = new HashMap<>();
    static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    static byte[] make(String field) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String piece : field.split("\\+")) {
            if (piece.startsWith("x:")) {
                all.write(HexFormat.of().parseHex(piece.substring(2)));
            } else if (!piece.isEmpty()) {
                int n = Integer.parseInt(piece.substring(2));
                for (int i = 0; i < n; i++) {
                    all.write(piece.charAt(0) == 'g' ? "0123456789abcdef".charAt(i % 16) : i);
                }
            }
        }
        return all.toByteArray();
    }

    static String text(String field) throws Exception {
        return new String(make(field), StandardCharsets.UTF_8);
    }

    static String show(Object value) throws Exception {
        if (value == null) {
            return "null";
        }
        byte[] raw = value instanceof byte[] b ? b : value.toString().getBytes(StandardCharsets.UTF_8);
        String hex = raw.length <= 300 ? HexFormat.of().formatHex(raw)
            : raw.length + " bytes " + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(raw));
        return value.getClass().getSimpleName() + " " + hex;
    }

    static void failed(Throwable error) {
        for (Throwable e = error; e != null; e = e instanceof SQLException s ? s.getNextException() : null) {
            String message = String.valueOf(e.getMessage()).replaceAll("\\(conn=\\d+\\)", "(conn)");
            out.println("error " + e.getClass().getSimpleName() + (e instanceof SQLException s ? " " + s.getErrorCode() + " " + s.getSQLState() : "")
                + " " + message.substring(0, Math.min(300, message.length())).replace('\n', ' '));
        }
    }

    static void warnings(SQLWarning w) {
        for (; w != null; w = w.getNextWarning()) {
            out.println("warning " + w.getErrorCode() + " " + w.getSQLState() + " " + w.getMessage());
        }
    }

    static void rows(ResultSet r) throws Exception {
        ResultSetMetaData m = r.getMetaData();
        for (int i = 1; i <= m.getColumnCount(); i++) {
            out.println("column " + m.getColumnLabel(i) + " " + m.getColumnName(i) + " " + m.getTableName(i) + " " + m.getCatalogName(i) + " " + m.getColumnTypeName(i)
                + " " + m.getColumnType(i) + " " + m.getPrecision(i) + " " + m.getScale(i) + " " + m.isNullable(i) + " " + m.isSigned(i) + " " + m.isAutoIncrement(i));
        }
        int n = 0;
        for (; r.next(); n++) {
            StringBuilder row = new StringBuilder("row");
            for (int i = 1; i <= m.getColumnCount(); i++) {
                try {
                    row.append(' ').append(show(r.getObject(i)));
                } catch (SQLException e) {
                    row.append(" error ").append(e.getMessage());
                }
            }
            out.println(row);
        }
        out.println("rows " + n);
        r.close();
    }

    static void results(Statement s, boolean isRows) throws Exception {
        while (true) {
            if (isRows) {
                rows(s.getResultSet());
            } else if (s.getLargeUpdateCount() < 0) {
                break;
            } else {
                out.println("updated " + s.getLargeUpdateCount());
            }
            isRows = s.getMoreResults();
        }
        try (ResultSet keys = s.getGeneratedKeys()) {
            rows(keys);
        } catch (SQLException e) {
            failed(e);
        }
        warnings(s.getWarnings());
    }

    static void query(String sql, int fetchSize) throws Exception {
        try (Statement s = db.createStatement()) {
            s.setFetchSize(fetchSize);
            results(s, s.execute(sql, Statement.RETURN_GENERATED_KEYS));
        }
    }

    static void execute(String op, String[] fields) throws Exception {
        PreparedStatement s = prepared.get(fields[1]);
        if (s == null) {
            return;
        }
        for (int i = 2; i < fields.length; i++) {
            byte[] raw = make(fields[i].substring(2));
            String value = new String(raw, StandardCharsets.UTF_8);
            switch (fields[i].charAt(0)) {
                case 'n' -> s.setNull(i - 1, Types.VARCHAR);
                case 'i' -> s.setLong(i - 1, Long.parseLong(value));
                case 'd' -> s.setDouble(i - 1, Double.parseDouble(value));
                case 's' -> s.setString(i - 1, value);
                default -> {
                    if (op.equals("long")) {
                        s.setBinaryStream(i - 1, new ByteArrayInputStream(raw));
                    } else {
                        s.setBytes(i - 1, raw);
                    }
                }
            }
        }
        s.setFetchSize(op.equals("cursor") ? 7 : 0);
        results(s, s.execute());
    }

    static void step(String[] fields) throws Exception {
        switch (fields[0]) {
            case "query" -> query(fields.length > 1 ? text(fields[1]) : "", 0);
            case "stream" -> query(text(fields[1]), 1);
            case "prepare" -> {
                prepared.remove(fields[1]);
                String sql = text(fields[2]);
                prepared.put(fields[1], db.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS));
            }
            case "execute", "cursor", "long" -> execute(fields[0], fields);
            case "close" -> {
                PreparedStatement s = prepared.remove(fields[1]);
                if (s != null) {
                    s.close();
                }
            }
            case "begin" -> db.setAutoCommit(false);
            case "commit" -> {
                db.commit();
                db.setAutoCommit(true);
            }
            case "rollback" -> {
                db.rollback();
                db.setAutoCommit(true);
            }
            case "autocommit" -> db.setAutoCommit(fields[1].equals("1"));
            case "use" -> {
                db.setCatalog(fields[1]);
                out.println("catalog " + db.getCatalog());
            }
            case "ping" -> out.println("valid " + db.isValid(10));
            case "warnings" -> warnings(db.getWarnings());
            default -> out.println("not played");
        }
    }

    public static void main(String[] args) throws Exception {
        boolean server = args[0].equals("server");
        db = DriverManager.getConnection("jdbc:mariadb://" + args[1] + ":" + args[2] + "/play?allowMultiQueries=true&allowLocalInfile=true&useSSL=false"
            + "&serverTimezone=UTC&useServerPrepStmts=" + server, "script", "Secret-1");
        int number = 0;
        for (String line : Files.readAllLines(Path.of(args[3]))) {
            number++;
            out.println("> " + number + " " + line.substring(0, Math.min(300, line.length())));
            try {
                step(line.split("\t"));
            } catch (Exception e) {
                failed(e);
            }
        }
        // Values that a procedure hands back, and executions that don't wait for each other.
        try (CallableStatement call = db.prepareCall("{CALL play.results(?, ?, ?)}")) {
            call.setInt(1, 2);
            call.setInt(2, 21);
            call.registerOutParameter(2, Types.INTEGER);
            call.registerOutParameter(3, Types.INTEGER);
            results(call, call.execute());
            out.println("out " + call.getInt(2) + " " + (call.getInt(3) > 1));
        } catch (SQLException e) {
            failed(e);
        }
        query("CREATE TABLE play.batch (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20))", 0);
        try (PreparedStatement batch = db.prepareStatement("INSERT INTO play.batch (word) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int i = 0; i < 100; i++) {
                batch.setString(1, i % 7 == 0 ? null : "w" + i);
                batch.addBatch();
            }
            out.println("batch " + batch.executeBatch().length);
            rows(batch.getGeneratedKeys());
        }
        query("SELECT COUNT(*), COUNT(word), MD5(GROUP_CONCAT(word ORDER BY id)) FROM play.batch", 0);
        rows(db.getMetaData().getTables("play", null, "%", null));
        db.close();
        try {
            DriverManager.getConnection("jdbc:mariadb://" + args[1] + ":" + args[2] + "/play", "script", "wrong");
        } catch (SQLException e) {
            out.println("error " + e.getErrorCode() + " " + e.getSQLState());
        }
        out.println("end of script");
    }
}
