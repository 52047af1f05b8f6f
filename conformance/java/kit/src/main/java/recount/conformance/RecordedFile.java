package recount.conformance;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * A file of vectors.
 *
 * @param name its name below the directory of the version
 * @param lines its lines, each with a {@code case} that is unique in the file
 */
public record RecordedFile(String name, List<ObjectNode> lines) {}
