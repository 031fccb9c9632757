-- Run by the mariadb client through the gateway and directly; the outputs must be equal.
DROP TABLE IF EXISTS cli, cli_large, cli_load;
CREATE TABLE cli (
  id INT AUTO_INCREMENT PRIMARY KEY, tiny TINYINT UNSIGNED, big BIGINT, amount DECIMAL(20, 6), ratio DOUBLE, flt FLOAT,
  word VARCHAR(50), fixed_word CHAR(5), body TEXT, raw VARBINARY(50), bits BIT(10), kind ENUM('a', 'b'), marks SET('x', 'y', 'z'),
  day DATE, clock TIME(6), moment DATETIME(6), stamp TIMESTAMP NULL, y YEAR, doc TEXT, UNIQUE (word));
INSERT INTO cli VALUES (NULL, 255, -9223372036854775808, -12345678901234.567891, 1e300, 1.5, 'räksmörgås', 'ab', 'text',
  x'00ff275c0a', b'1000000001', 'b', 'x,z', '2024-02-29', '-838:59:59.000001', '9999-12-31 23:59:59.999999',
  '2024-02-29 12:00:00', 2155, '{"a": [1, null]}');
INSERT INTO cli (word) VALUES (NULL), (NULL), ('');
SELECT LAST_INSERT_ID(), ROW_COUNT();
SELECT * FROM cli;
SELECT id, HEX(raw), HEX(word), bits + 0, raw IS NULL FROM cli ORDER BY id DESC;
SELECT NULL, 1, -1.50, 'text', x'41', CURRENT_DATE() IS NULL, TRUE;
SELECT * FROM cli WHERE FALSE;

-- Reads of fixed are answered by the other server, which must know the session's state.
SELECT id, word, at, HEX(data) FROM fixed;
SET NAMES latin1;
SELECT id, HEX(word), LENGTH(word), @@character_set_client, @@character_set_results, @@collation_connection FROM fixed;
SET NAMES utf8mb4;
SET collation_connection = utf8mb4_bin;
SELECT id, 'Word' = 'word', @@collation_connection FROM fixed WHERE id = 1;
SET time_zone = '+05:30', @@SESSION.sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT';
SELECT "id", "at", 'a' || 'b', @@sql_mode, @@time_zone FROM fixed;
SET SESSION group_concat_max_len = 5, div_precision_increment = 8;
SELECT GROUP_CONCAT(word), 1 / 3 FROM fixed;
SET sql_mode = DEFAULT, time_zone = DEFAULT, group_concat_max_len = DEFAULT, div_precision_increment = DEFAULT;
SELECT id, at, 1 / 3, @@sql_mode FROM fixed;
USE e2e_other;
SELECT DATABASE();
SELECT * FROM fixed;
SELECT COUNT(*) FROM e2e.fixed;
USE nowhere;
SELECT DATABASE();
USE e2e;
SELECT DATABASE(), COUNT(*) FROM fixed;

-- What belongs to the statement before.
SELECT SQL_CALC_FOUND_ROWS id FROM fixed LIMIT 1;
SELECT FOUND_ROWS();
SELECT CAST('12abc' AS SIGNED) FROM fixed LIMIT 1;
SHOW WARNINGS;
SELECT 1 / 0, @@warning_count >= 0;
UPDATE cli SET tiny = 300 WHERE id = 1;
SHOW ERRORS;
INSERT IGNORE INTO cli (id, tiny) VALUES (1, 300);
SHOW WARNINGS;
INSERT INTO cli (word) VALUES ('one'), ('two');
SELECT LAST_INSERT_ID();
UPDATE cli SET tiny = 1 WHERE word IN ('one', 'two');
SELECT ROW_COUNT();
UPDATE cli SET tiny = 1 WHERE word IN ('one', 'two');

-- Errors.
SELECT * FROM nowhere;
SELECT nothing FROM fixed;
SELEC 1;
INSERT INTO cli (word) VALUES ('one');
INSERT INTO cli (tiny) VALUES (1000);
SELECT * FROM mysql.user;
DELIMITER //
CREATE OR REPLACE PROCEDURE cli_signal() BEGIN SIGNAL SQLSTATE '45123' SET MESSAGE_TEXT = 'own trouble', MYSQL_ERRNO = 31000; END//
CREATE OR REPLACE PROCEDURE cli_results(IN n INT, OUT total INT)
BEGIN
  SELECT n AS first;
  SELECT id, word FROM fixed WHERE id <= n;
  UPDATE cli SET tiny = n;
  SELECT COUNT(*) INTO total FROM cli;
END//
-- Several statements in one packet, the last one wrong.
SELECT 1 AS first; SELECT id FROM fixed WHERE id = 2; DO 0; SELECT * FROM nowhere; SELECT 'never'//
INSERT INTO cli (word) VALUES ('multi'); SELECT id FROM one; SELEC 1//
DELIMITER ;
CALL cli_signal();
CALL cli_results(2, @total);
SELECT @total;

-- State that stays on one server.
SET @x = 5, @y := 'word';
SELECT @x, @y, id FROM fixed WHERE id < @x;
CREATE TEMPORARY TABLE scratch AS SELECT id, word FROM fixed;
SELECT s.id, f.word FROM scratch s JOIN fixed f USING (id);
DROP TEMPORARY TABLE scratch;
PREPARE p FROM 'SELECT id, ? FROM fixed WHERE id = ?';
SET @a = 'bound', @b = 2;
EXECUTE p USING @a, @b;
DEALLOCATE PREPARE p;
EXECUTE p USING @a, @b;
SELECT GET_LOCK('cli', 1), IS_USED_LOCK('cli') = CONNECTION_ID(), RELEASE_LOCK('cli');
LOCK TABLES cli WRITE, fixed READ;
SELECT COUNT(*) FROM fixed;
SELECT COUNT(*) FROM one;
UNLOCK TABLES;

-- Transactions.
BEGIN;
INSERT INTO cli (word) VALUES ('rolled back');
SAVEPOINT s;
INSERT INTO cli (word) VALUES ('to the savepoint');
ROLLBACK TO SAVEPOINT s;
SELECT word FROM cli WHERE word LIKE '%back' OR word LIKE 'to%' ORDER BY word;
SELECT COUNT(*), @@in_transaction FROM fixed;
ROLLBACK;
SET autocommit = 0;
SELECT COUNT(*), @@autocommit FROM fixed;
INSERT INTO cli (word) VALUES ('committed');
COMMIT;
SET autocommit = 1;
START TRANSACTION READ ONLY;
INSERT INTO cli (word) VALUES ('read only');
COMMIT;
SELECT word FROM cli WHERE word IN ('rolled back', 'to the savepoint', 'committed', 'read only') ORDER BY word;

-- Files and large values.
CREATE TABLE cli_load (id INT, word VARCHAR(50));
LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE cli_load CHARACTER SET utf8mb4;
SELECT * FROM cli_load;
LOAD DATA LOCAL INFILE 'no-such-file.txt' INTO TABLE cli_load;
SELECT COUNT(*) FROM cli_load;
CREATE TABLE cli_large (id INT PRIMARY KEY, data LONGTEXT);
INSERT INTO cli_large VALUES (1, 'LARGE');
SELECT id, LENGTH(data), MD5(data) FROM cli_large;
EXPLAIN SELECT * FROM fixed WHERE id = 1;
SHOW CREATE TABLE cli;
SHOW TABLES LIKE 'cli%';
/*!50000 SELECT 'in a comment' */;
