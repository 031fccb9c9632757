# Plays the script with Perl's DBI: dbi.pl mysql|MariaDB HOST PORT SCRIPT.
use strict;
use warnings;
use DBI qw(:sql_types);
use Digest::SHA qw(sha1_hex);

my ($driver, $host, $port, $script) = @ARGV;
my $p = lc $driver;    # The prefix of the driver's own attributes.
my $all = join '', map { chr } 0 .. 255;
binmode STDOUT;
$| = 1;

sub make {
    my ($field) = @_;
    my $out = '';
    for my $piece (grep { length } split /\+/, $field) {
        my ($kind, $value) = split /:/, $piece, 2;
        if ($kind eq 'x') { $out .= pack 'H*', $value; next }
        my $base = $kind eq 'g' ? '0123456789abcdef' : $all;
        $out .= substr $base x ($value / length($base) + 1), 0, $value;
    }
    return $out;
}

sub show {
    my ($value) = @_;
    return 'undef' unless defined $value;
    my $wide = utf8::is_utf8($value) ? 'text ' : '';
    utf8::encode($value) if $wide;
    return $wide . (length $value <= 300 ? unpack 'H*', $value : length($value) . ' bytes ' . sha1_hex($value));
}

sub login {
    my ($prepare) = @_;
    return DBI->connect("DBI:$driver:database=play;host=$host;port=$port;${p}_multi_statements=1;${p}_local_infile=1;${p}_server_prepare=$prepare" . ($driver eq 'mysql' ? ';mysql_enable_utf8mb4=0' : ''),
        'script', 'Secret-1', { RaiseError => 0, PrintError => 0, AutoCommit => 1 }) // die $DBI::errstr;
}

sub trouble {
    my ($h) = @_;
    print "error ", join(' ', map { $_ // 'undef' } $h->err, $h->state, $h->errstr), "\n" if defined $h->err;
}

sub results {
    my ($db, $s) = @_;
    while (1) {
        if ($s->{NUM_OF_FIELDS}) {
            for my $a (qw(NAME TYPE PRECISION SCALE NULLABLE), "${p}_table", "${p}_length", "${p}_type", "${p}_type_name", "${p}_is_num", "${p}_is_pri_key", "${p}_is_auto_increment", "${p}_is_blob") {
                print "$a ", join(', ', map { $_ // 'undef' } @{ $s->{$a} // [] }), "\n";
            }
            my $n = 0;
            while (my $row = $s->fetchrow_arrayref) { $n++; print 'row ', join(', ', map { show($_) } @$row), "\n" }
            trouble($s);
            print "rows $n\n";
        }
        print 'affected ', $s->rows, ' id ', $s->{"${p}_insertid"} // 'undef', ' warnings ', $s->{"${p}_warning_count"} // 'undef', ' info ', $db->{"${p}_info"} // 'undef', "\n";
        last unless $s->more_results;
    }
    trouble($s);
}

# Without and with statements prepared by the server.
for my $prepare (0, 1) {
    print "server_prepare $prepare\n";
    my $db = login($prepare);
    my %prepared;
    open my $in, '<', $script or die "$script: $!";
    while (my $line = <$in>) {
        chomp $line;
        my ($op, @fields) = split /\t/, $line;
        print "> $. ", substr($line, 0, 300), "\n";
        if ($op eq 'query' or $op eq 'raw' or $op eq 'stream') {
            my $s = $db->prepare(make($fields[0] // ''), { "${p}_server_prepare" => 0, "${p}_use_result" => $op eq 'stream' ? 1 : 0 });
            trouble($db), next unless $s;
            $s->execute ? results($db, $s) : trouble($s);
        } elsif ($op eq 'prepare') {
            my $text = make($fields[1]);
            # Both drivers crash at the second execution of a CALL that the server has prepared.
            my $s = $db->prepare($text, $text =~ /^CALL/ ? { "${p}_server_prepare" => 0 } : {});
            $s ? ($prepared{ $fields[0] } = $s) : trouble($db);
            print "parameters $s->{NUM_OF_PARAMS}\n" if $s;
        } elsif ($op eq 'execute' or $op eq 'cursor' or $op eq 'long') {
            my $s = $prepared{ shift @fields } or next;
            my $i = 0;
            for my $f (@fields) {
                my ($kind, $value) = split /=/, $f, 2;
                my %types = (n => SQL_VARCHAR, i => SQL_BIGINT, d => SQL_DOUBLE, s => SQL_VARCHAR, b => SQL_BLOB);
                $s->bind_param(++$i, $kind eq 'n' ? undef : make($value), $types{$kind});
            }
            $s->execute ? results($db, $s) : trouble($s);
        } elsif ($op eq 'close') {
            delete $prepared{ $fields[0] };
        } elsif ($op eq 'begin') {
            print $db->begin_work, "\n";
        } elsif ($op eq 'commit' or $op eq 'rollback') {
            $db->{AutoCommit} ? print "no transaction\n" : print $db->$op ? "done\n" : "failed\n";
        } elsif ($op eq 'autocommit') {
            $db->{AutoCommit} = $fields[0];
        } elsif ($op eq 'use' or $op eq 'charset') {
            $db->do($op eq 'use' ? "USE $fields[0]" : "SET NAMES $fields[0]");
            trouble($db);
        } elsif ($op eq 'ping') {
            print 'ping ', $db->ping, "\n";
        } elsif ($op eq 'warnings') {
            print join(' ', @$_), "\n" for @{ $db->selectall_arrayref('SHOW WARNINGS') };
        } else {
            print "not played\n";
        }
    }
    close $in;
    for my $table ($db->tables(undef, 'play', '%', 'TABLE')) { print "table $table\n" }
    $db->do('DROP DATABASE play'), $db->do('CREATE DATABASE play'), trouble($db);
    $db->do('DROP DATABASE play_other'), $db->do('CREATE DATABASE play_other'), trouble($db);
    %prepared = ();
    $db->disconnect;
}
print "end of script\n";
