import org.jspecify.annotations.NullMarked;

/** The journal on SQLite and on PostgreSQL: arrivals, events, fencing, migrations. */
@NullMarked
module dev.holdfast.journal {
    requires transitive dev.holdfast;
    requires com.zaxxer.hikari;
    requires java.sql;
    requires org.slf4j;
    requires org.xerial.sqlitejdbc;
    requires static org.jspecify;

    exports dev.holdfast.journal;
}
